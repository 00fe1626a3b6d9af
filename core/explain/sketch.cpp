// SPDX-License-Identifier: Apache-2.0
#include "core/explain/sketch.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/require.hpp"
#include "core/explain/values.hpp"

namespace ttcheck::explain {
namespace {

/// Mixes an index to bits (the finaliser of SplitMix64; Steele, Lea and Flood 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

void add(Sketch& sketch, std::uint64_t place, double value) {
  const std::uint64_t signs = mixed(place);
  for (std::size_t j = 0; j < kSigns; ++j) sketch[j] += ((signs >> j) & 1) != 0 ? value : -value;
}

}  // namespace

std::vector<Sketches> sketches_of(const Tensor& tensor, const ValueMap* map,
                                  std::optional<std::int64_t> slice) {
  require(!is_complex(tensor.dtype), "a real dtype");
  const Shape shape(tensor.shape.begin() + (slice ? 1 : 0), tensor.shape.end());
  const std::size_t dims = shape.size();
  const Extents strides = row_major_strides(shape);
  std::vector<Sketches> all(dims);
  for (std::size_t dim = 0; dim < dims; ++dim) {
    const auto extent = static_cast<std::size_t>(shape[dim]);
    all[dim] = {std::vector<Sketch>(extent), std::vector<double>(extent)};
  }
  const std::int64_t count = element_count(shape);
  const std::int64_t first = slice.value_or(0) * count;
  std::vector<double> values;
  Extents at(dims, 0);
  for (std::int64_t begin = 0; begin < count; begin += kRangeElements) {
    values.resize(static_cast<std::size_t>(std::min(kRangeElements, count - begin)));
    read_values(tensor, map, first + begin, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t linear = begin + static_cast<std::int64_t>(i);
      const double value = std::isfinite(values[i]) ? values[i] : 0;
      for (std::size_t dim = 0; dim < dims; ++dim) {
        const std::int64_t inner = strides[dim];
        const std::int64_t place = linear / (inner * shape[dim]) * inner + linear % inner;
        const auto index = static_cast<std::size_t>(at[dim]);
        add(all[dim].of[index], static_cast<std::uint64_t>(place), value);
        all[dim].norm2[index] += value * value;
      }
      for (std::size_t dim = dims; dim-- > 0;) {
        if (++at[dim] < shape[dim]) break;
        at[dim] = 0;
      }
    }
  }
  return all;
}

double distance2(const Sketch& a, const Sketch& b) {
  double sum = 0;
  for (std::size_t j = 0; j < kSigns; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum / static_cast<double>(kSigns);
}

}  // namespace ttcheck::explain
