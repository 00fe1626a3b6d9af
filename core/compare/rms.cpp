// SPDX-License-Identifier: Apache-2.0
#include "core/compare/rms.hpp"

#include <algorithm>
#include <cmath>

#include "core/compare/values.hpp"

namespace ttcheck::compare {

double rms_of(const Tensor& tensor, const Stop& stop) {
  Values values(tensor);
  double sum = 0;
  const std::int64_t count = element_count(tensor.shape);
  for_ranges(count, stop, [&](std::int64_t begin, std::int64_t size) {
    for (const double value : values.read(begin, size)) sum += value * value;
  });
  return std::sqrt(sum / static_cast<double>(std::max<std::int64_t>(count, 1)));
}

}  // namespace ttcheck::compare
