#include "cli/apart_heirs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cli/recomputing.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::cli {
namespace {

using locate::Recomputed;

/// Held to what round-off may do, and beyond it by little: what a user asked for, or a number that
/// is finite on one side alone, no chance excuses.
bool may_pass_on(const TensorResult& result) {
  constexpr double kMost = 16;  // limits
  const LimitKind kind = result.limit.kind;
  return result.outcome == Outcome::diverged &&
         (kind == LimitKind::model || kind == LimitKind::measured) && result.test != "replica" &&
         result.metrics.non_finite_disagree == 0 && result.ratio <= kMost;
}

class Heirs {
 public:
  Heirs(std::span<TensorResult> results, Verdict& verdict) : results_(results), verdict_(verdict) {
    for (std::size_t i = 0; i < results.size(); ++i) places_.emplace(results[i].identity, i);
  }

  /// The number of results that became noise.
  std::int64_t settle(std::span<const Recomputed> recomputed) {
    std::int64_t settled = 0;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      if (!may_pass_on(results_[i]) || !only_passes_on(recomputed[i])) continue;
      accept(results_[i]);
      ++settled;
    }
    return settled;
  }

 private:
  bool only_passes_on(const Recomputed& recomputed) const {
    if (recomputed.state != Recomputed::State::right || recomputed.collective) return false;
    return !recomputed.inputs.empty() &&
           std::ranges::all_of(recomputed.inputs, [&](const Identity& input) {
             const auto found = places_.find(input);
             // A parameter may be what the step before left: it was judged there.
             if (found == places_.end()) {
               return input.phase == Phase::optimizer || input.phase == Phase::state;
             }
             return results_[found->second].outcome != Outcome::diverged;
           });
  }

  /// Its limit is what went in, then.
  void accept(TensorResult& result) {
    auto& outcomes = verdict_.tally.outcomes;
    --outcomes[static_cast<std::size_t>(Outcome::diverged)];
    ++outcomes[static_cast<std::size_t>(Outcome::noise)];
    result.outcome = Outcome::noise;
    result.limit.rel *= result.ratio;
    result.limit.row *= result.ratio;
    result.limit.outlier *= result.ratio;
    result.limit.source += "; its op is right, and parameters are apart by chance";
    result.ratio = 1;
    result.wrong_ranks.clear();
    result.places = nullptr;
  }

  std::span<TensorResult> results_;
  Verdict& verdict_;
  std::unordered_map<Identity, std::size_t, IdentityHash> places_;
};

}  // namespace

bool settle_heirs(const MetStep& met, std::span<TensorResult> results, DiffContext& context,
                  Verdict& verdict) {
  const bool any = std::ranges::any_of(results, may_pass_on);
  if (!any || !met.trace || !(context.apart.chance > 0)) return false;
  std::vector<Recomputed> recomputed(results.size());
  recompute_step(met, results, context, recomputed);
  const std::int64_t settled = Heirs(results, verdict).settle(recomputed);
  if (settled == 0) return false;
  verdict.findings.push_back(verdict::note(
      Code::unmeasured_noise, results.front().step,
      fmt::format("{} records are beyond their limits only because parameters are apart "
                  "by chance: recomputed from what went in, their ops are right",
                  settled)));
  return true;
}

}  // namespace ttcheck::cli
