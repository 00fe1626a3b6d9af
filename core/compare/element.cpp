// SPDX-License-Identifier: Apache-2.0
#include "core/compare/element.hpp"

#include "core/compare/pair_values.hpp"

namespace ttcheck::compare {

std::optional<std::array<double, 2>> values_at(const Pair& pair, std::int64_t index) {
  constexpr std::int64_t kStep = 8;  // where ranges may begin
  if (!has_real_values(pair)) return std::nullopt;
  const std::int64_t begin = index / kStep * kStep, count = index - begin + 1;
  PairValues values(pair);
  return {{values.reference(begin, count).back(), values.candidate(begin, count).back()}};
}

}  // namespace ttcheck::compare
