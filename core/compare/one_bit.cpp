// SPDX-License-Identifier: Apache-2.0
#include "core/compare/one_bit.hpp"

#include <bit>
#include <span>

#include "core/compare/pair_values.hpp"

namespace ttcheck::compare {

std::optional<int> one_bit_apart(const Pair& pair, std::int64_t index) {
  constexpr std::int64_t kStep = 8;  // where ranges may begin
  const bool whole = pair.reference->dtype == DType::f32 && pair.candidate->dtype == DType::f32 &&
                     has_real_values(pair) && !pair.mapped();
  if (index < 0 || !whole) return std::nullopt;
  const std::int64_t begin = index / kStep * kStep, count = index - begin + 1;
  PairValues values(pair);
  const auto bits = [](std::span<const double> range) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(range.back()));
  };
  const std::uint32_t apart =
      bits(values.reference(begin, count)) ^ bits(values.candidate(begin, count));
  return std::has_single_bit(apart) ? std::optional(std::countr_zero(apart)) : std::nullopt;
}

}  // namespace ttcheck::compare
