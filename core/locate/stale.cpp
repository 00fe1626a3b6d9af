#include "core/locate/stale.hpp"

#include <ranges>

namespace ttcheck::locate {
namespace {

constexpr std::int64_t kLeast = 8;  // elements; the sums of fewer may well be the same

}  // namespace

std::optional<std::int64_t> stale_since(const TensorResult& result,
                                        std::span<const TensorResult> earlier) {
  const Metrics& now = result.metrics;
  const bool told = now.count >= kLeast && now.sum_b2 > 0 && now.candidate == NonFinite{} &&
                    !is_exact(result.candidate_dtype);
  if (!told) return std::nullopt;
  for (const TensorResult& before : std::views::reverse(earlier)) {
    if (before.identity != result.identity || before.step == result.step) continue;
    const Metrics& then = before.metrics;
    const bool same = then.count == now.count && then.sum_b2 == now.sum_b2 &&
                      before.candidate_dtype == result.candidate_dtype;
    if (same && then.sum_a2 != now.sum_a2) return before.step;
  }
  return std::nullopt;
}

}  // namespace ttcheck::locate
