// SPDX-License-Identifier: Apache-2.0
#include "core/compare/partial_sums.hpp"

#include <cmath>
#include <vector>

#include "core/compare/channels.hpp"
#include "core/compare/values.hpp"

namespace ttcheck::compare {

std::optional<PartialSums> partial_sums(const Tensor& terms, std::int64_t channels,
                                        const Stop& stop) {
  const auto of = channels_of(terms.shape, channels);
  if (!of || !terms.stored || !terms.holes.empty() || is_complex(terms.dtype)) return std::nullopt;
  std::vector<double> so_far(static_cast<std::size_t>(channels));
  PartialSums squares;
  Values values(terms);
  for_ranges(element_count(terms.shape), stop, [&](std::int64_t begin, std::int64_t size) {
    std::int64_t at = begin;
    for (const double value : values.read(begin, size)) {
      double& sum = so_far[of->of(at++)];
      sum += value;
      squares.sums += sum * sum;
      squares.terms += value * value;
    }
  });
  if (!std::isfinite(squares.sums)) return std::nullopt;
  return squares;
}

}  // namespace ttcheck::compare
