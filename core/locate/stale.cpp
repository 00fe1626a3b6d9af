// SPDX-License-Identifier: Apache-2.0
#include "core/locate/stale.hpp"

#include <ranges>

namespace ttcheck::locate {
namespace {

constexpr std::int64_t kLeast = 8;  // elements; the sums of fewer may well be the same

bool told(const TensorResult& result) {
  const Metrics& metrics = result.metrics;
  return metrics.count >= kLeast && metrics.sum_b2 > 0 && metrics.candidate == NonFinite{} &&
         !is_exact(result.candidate_dtype);
}

/// The candidate has the same values in both, and the reference has not.
bool held(const TensorResult& before, const TensorResult& now) {
  const Metrics& then = before.metrics;
  const Metrics& metrics = now.metrics;
  return then.count == metrics.count && then.sum_b2 == metrics.sum_b2 &&
         before.candidate_dtype == now.candidate_dtype && then.sum_a2 != metrics.sum_a2;
}

}  // namespace

std::optional<std::int64_t> stale_since(const TensorResult& result,
                                        std::span<const TensorResult> earlier) {
  if (!told(result)) return std::nullopt;
  for (const TensorResult& before : std::views::reverse(earlier)) {
    if (before.identity != result.identity || before.step == result.step) continue;
    if (held(before, result)) return before.step;
  }
  return std::nullopt;
}

bool unmoved(const TensorResult& before, const TensorResult& after) {
  if (!told(after) || !held(before, after)) return false;
  const std::int64_t moved = after.metrics.unequal_values - before.metrics.unequal_values;
  return 2 * moved >= after.metrics.count;
}

}  // namespace ttcheck::locate
