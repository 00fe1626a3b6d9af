// SPDX-License-Identifier: Apache-2.0
#include "core/limits/aside.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>

#include "core/limits/siblings.hpp"

namespace ttcheck::limits {
namespace {

bool is_bias(const Stored& one) { return one.bias && !is_moment(one.kind); }

/// Whatever was measured, which chance itself may have made large.
bool is_far(const Stored& one) {
  return !one.equal && std::isfinite(one.moved.distance) &&
         one.moved.distance > kOdd * least_moved(one, {}).distance;
}

}  // namespace

std::vector<bool> moved_by_chance(std::span<const Stored> states) {
  constexpr std::int64_t kSeveral = 2;
  std::vector<bool> moved(states.size(), false);
  const bool trained = std::ranges::any_of(
      states, [](const Stored& one) { return !one.equal && !(one.bias && is_far(one)); });
  if (!trained) return moved;
  std::map<std::string, std::int64_t> far;  // of each part, how many
  for (const Stored& one : states) {
    if (is_bias(one)) far[siblings_of(one.name)] += is_far(one) ? 1 : 0;
  }
  std::int64_t loose = 0, still = 0;
  for (const auto& [part, count] : far) {
    loose += count >= kSeveral ? 1 : 0;
    still += count == 0 ? 1 : 0;
  }
  if (loose > still) return moved;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Stored& one = states[i];
    moved[i] = is_bias(one) && is_far(one) && far[siblings_of(one.name)] >= kSeveral;
  }
  return moved;
}

}  // namespace ttcheck::limits
