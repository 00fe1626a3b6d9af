// SPDX-License-Identifier: Apache-2.0
#include "core/noise/passed_on.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/noise/excuse.hpp"
#include "core/noise/rules.hpp"

namespace ttcheck::noise {
namespace {

using recompute::Recomputed;

/// Held to what round-off may do, and beyond it by little: what a user asked for, or a number that
/// is finite on one side alone, no chance excuses.
bool may_pass_on(const TensorResult& result) {
  return result.outcome() == Outcome::diverged && is_held_to_roundoff(result);
}

/// How far a result that was settled is apart all the same, in limits.
double passed_on(const TensorResult& result) {
  const double rel = result.metrics.rel();
  const bool settled = result.outcome() == Outcome::noise && result.limit.rel > 0;
  return settled && std::isfinite(rel) ? std::max(1.0, rel / result.limit.rel) : 1;
}

class Heirs : public Excuser {
 public:
  Heirs(std::span<const TensorResult> results, const Carried& carried, const Ask& ask)
      : results_(results), carried_(carried), ask_(ask) {}

  bool look(TensorResult& result) override {
    const bool apart = carried_.apart.chance > 0 || carried_.by_chance();
    if (!apart || !may_pass_on(result)) return false;
    find_places();
    if (!only_passes_on(result, ask_(result))) return false;
    accept(result);
    return true;
  }

 private:
  /// Once it is asked for: most steps have nothing to pass on.
  void find_places() {
    if (!places_.empty()) return;
    for (std::size_t i = 0; i < results_.size(); ++i) places_.emplace(results_[i].identity, i);
  }

  bool only_passes_on(const TensorResult& result, const Recomputed& recomputed) const {
    if (recomputed.state != Recomputed::State::right || recomputed.collective) return false;
    double apart = 1;
    for (const Identity& input : recomputed.inputs) {
      const auto found = places_.find(input);
      if (found == places_.end()) {
        // A parameter may be what the step before left: it was judged there.
        const bool parameter = input.phase == Phase::optimizer || input.phase == Phase::state;
        if (!parameter || carried_.apart.diverged.contains(input.name)) return false;
        continue;
      }
      if (results_[found->second].outcome() == Outcome::diverged) return false;
      apart = std::max(apart, passed_on(results_[found->second]));
    }
    return !recomputed.inputs.empty() && result.ratio <= kLittle * apart;
  }

  /// Its limit is what went in, then.
  static void accept(TensorResult& result) {
    const double times = result.ratio;
    result.limit.rel *= times;
    result.limit.row *= times;
    result.limit.outlier *= times;
    result.limit.source += "; its op is right, and parameters are apart by chance";
    result.allowed = result.error;
    result.ratio = 1;
    excuse(result, kPassedOn, times);
  }

  std::span<const TensorResult> results_;
  const Carried& carried_;
  const Ask& ask_;
  std::unordered_map<Identity, std::size_t, IdentityHash> places_;
};

}  // namespace

std::unique_ptr<Excuser> along_ops(std::span<const TensorResult> results, const Carried& carried,
                                   const Ask& ask) {
  return std::make_unique<Heirs>(results, carried, ask);
}

}  // namespace ttcheck::noise
