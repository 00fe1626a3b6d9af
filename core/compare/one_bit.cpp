// SPDX-License-Identifier: Apache-2.0
#include "core/compare/one_bit.hpp"

#include <bit>

#include "core/compare/element.hpp"

namespace ttcheck::compare {

std::optional<int> one_bit_apart(const Pair& pair, std::int64_t index) {
  const bool floats = pair.reference->dtype == DType::f32 && pair.candidate->dtype == DType::f32;
  if (index < 0 || !floats || pair.mapped()) return std::nullopt;
  const auto values = values_at(pair, index);
  if (!values) return std::nullopt;
  const auto bits = [](double value) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  };
  const std::uint32_t apart = bits(values->front()) ^ bits(values->back());
  return std::has_single_bit(apart) ? std::optional(std::countr_zero(apart)) : std::nullopt;
}

}  // namespace ttcheck::compare
