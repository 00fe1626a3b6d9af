// SPDX-License-Identifier: Apache-2.0
#include "core/diff/judge_own_roundoff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/interrupted.hpp"
#include "core/base/name_map.hpp"
#include "core/compare/lean.hpp"
#include "core/compare/pair_values.hpp"
#include "core/diff/limits_context.hpp"
#include "core/limits/own_roundoff.hpp"
#include "core/noise/excuse.hpp"
#include "core/verdict/judge.hpp"

namespace ttcheck::diff {
namespace {

bool is_output(const TensorResult& result) {
  return result.identity.phase == Phase::forward && result.kind == Kind::output;
}

bool is_loaded(const TensorResult& result) {
  return result.identity.phase == Phase::state && is_parameter(result.kind);
}

/// Whether both sides have the same numbers.
bool agrees(const TensorResult& result) {
  return result.outcome() == Outcome::equal && !result.cast.starts_with("rounding");
}

/// Ranks whose partial sums a value of the forward pass may be added up of.
std::int64_t addends_of(const Mesh& mesh) {
  std::int64_t most = 1;
  for (const Axis& axis : mesh.axes) {
    if (axis.name != "dp" && axis.name != "pp") most = std::max(most, axis.size);
  }
  return most - 1;
}

class OwnRoundoff {
 public:
  OwnRoundoff(const MetStep& met, std::span<TensorResult> results, const DiffContext& context)
      : met_(met),
        results_(results),
        context_(context),
        coarsest_(context_of_pairs(met).coarsest) {}

  /// Everything was compared, and the parameters are those that were loaded, or rounded from them.
  bool applies() const {
    const limits::Apart& apart = context_.memory.noise.apart;
    if (results_.size() != met_.pairs.size() || !limits::has_own_roundoff(coarsest_) ||
        apart.any()) {
      return false;
    }
    const double rounded = limits::own_lean(coarsest_) / 2;
    bool any = false;
    for (const TensorResult& one : results_) {
      if (!is_loaded(one)) continue;
      any = true;
      if (!(one.metrics.rel() <= rounded)) return false;
    }
    return any;
  }

  void condemn_leaning() {
    const double own = limits::own_lean(coarsest_);
    double before = 0;
    for (TensorResult& result : results_) {
      const Phase phase = result.identity.phase;
      if (phase == Phase::comm) continue;
      if (phase > Phase::forward || is_clear(result)) break;
      if (result.outcome() == Outcome::not_comparable || is_exact(result.dtype)) continue;
      if (!(result.metrics.rel() > own / 2)) continue;
      const auto lean = lean_of(result);
      if (!lean) continue;
      if (is_output(result) && may_be_wrong(result) && std::abs(lean->sure) > own + before) {
        condemn(result, Test::lean, std::abs(lean->sure), own + before,
                fmt::format("most values to one side: {:.3g}, two factors rounded to {}",
                            own + before, name(coarsest_)));
        return;
      }
      before = std::max(before, std::abs(lean->median));
    }
  }

  void condemn_first_apart() {
    const auto diverged = [](const TensorResult& one) {
      return one.outcome() == Outcome::diverged;
    };
    if (std::ranges::none_of(results_, diverged)) return;
    const auto first =
        std::ranges::find_if(results_, [](const TensorResult& one) { return !agrees(one); });
    if (first == results_.end() || !is_output(*first) || !may_be_wrong(*first)) return;
    const double own = limits::own_roundoff(
        coarsest_, weights_since(*first),
        addends_of(context_.reference.mesh) + addends_of(context_.candidate.mesh));
    const double rel = first->metrics.rel();
    if (!(rel > own)) return;
    condemn(*first, Test::own, rel, own,
            fmt::format("own round-off behind equal inputs: {:.3g}, 11 roundings to {} a weight",
                        own, name(coarsest_)));
  }

 private:
  const compare::Pair* compared(const TensorResult& result) const {
    const compare::Pair* const pair = met_.compared(result);
    return pair != nullptr && compare::has_real_values(*pair) ? pair : nullptr;
  }

  static bool is_clear(const TensorResult& result) {
    return result.outcome() == Outcome::diverged && !result.is_borderline();
  }

  /// Held to a model, or off by more than correct runs were, and not found to be chance.
  bool may_be_wrong(const TensorResult& result) const {
    const bool open = result.outcome() == Outcome::noise || result.is_borderline();
    return open && noise::is_held_to_roundoff(result) && !result.allowance &&
           compared(result) != nullptr && result.metrics.rel() > result.limit.measured;
  }

  std::optional<compare::Lean> lean_of(const TensorResult& result) const {
    const compare::Pair* const pair = compared(result);
    if (pair == nullptr) return std::nullopt;
    try {
      return compare::lean_of(*pair, [] { return interrupted() != 0; });
    } catch (const Error&) {  // stopped, or no longer readable: the result stands as it is
      return std::nullopt;
    }
  }

  /// Matrices that may have been used between the records before and this one: its own module's,
  /// and those of modules whose calls were not recorded.
  std::int64_t weights_since(const TensorResult& result) const {
    NameSet called;
    for (const TensorResult& one : results_) {
      if (is_output(one)) called.insert(std::string(module_of(one.identity)));
    }
    const std::string_view own = module_of(result.identity);
    std::int64_t weights = 0;
    for (const TensorResult& one : results_) {
      if (!is_loaded(one)) continue;
      const std::string_view module = module_of(one.identity);
      const bool between = module == own || !called.contains(module);
      if (one.shape.size() > 1 && between) ++weights;
    }
    return weights;
  }

  void condemn(TensorResult& result, Test test, double error, double allowed,
               const std::string& why) {
    const compare::Pair& pair = *compared(result);
    if (result.limit.group.empty()) result.limit.group = result.limit.source;
    result.limit.source += "; " + why;
    Limit own;
    own.rel = allowed;
    const auto ranks = verdict::wrong_ranks(result.ranks, own);
    result = verdict::as_wrong_by_itself(*pair.reference, *pair.candidate, std::move(result), test,
                                         error, allowed, ranks);
  }

  const MetStep& met_;
  std::span<TensorResult> results_;
  const DiffContext& context_;
  DType coarsest_;
};

}  // namespace

void judge_own_roundoff(const MetStep& met, std::span<TensorResult> results,
                        const DiffContext& context) {
  if (!met.trace || !context.how.recompute) return;
  OwnRoundoff own(met, results, context);
  if (!own.applies()) return;
  own.condemn_leaning();
  own.condemn_first_apart();
}

}  // namespace ttcheck::diff
