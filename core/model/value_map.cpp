// SPDX-License-Identifier: Apache-2.0
#include "core/model/value_map.hpp"

#include <algorithm>
#include <vector>

#include "core/base/checked.hpp"
#include "core/base/require.hpp"
#include "core/model/decode.hpp"

namespace ttcheck {
namespace {

constexpr std::int64_t kChunk = 512;  // elements; a multiple of 8 for packed dtypes

}  // namespace

void apply(const ValueMap& map, DType dtype, std::int64_t count, std::span<std::byte> elements) {
  require(!is_exact(dtype), "floating or complex numbers");
  const std::int64_t parts = is_complex(dtype) ? 2 : 1;
  std::vector<double> values(static_cast<std::size_t>(kChunk * parts));
  for (std::int64_t at = 0; at < count; at += kChunk) {
    const std::int64_t n = std::min(kChunk, count - at);
    std::byte* stored = elements.data() + at * bits(dtype) / 8;
    to_doubles(dtype, stored, n, values.data());
    for (std::int64_t i = 0; i < n * parts; ++i) {
      double& value = values[static_cast<std::size_t>(i)];
      value = value * map.factor / map.divisor + (i % parts == 0 ? map.addend : 0);
    }
    from_doubles(dtype, values.data(), n, stored);
  }
}

}  // namespace ttcheck
