// SPDX-License-Identifier: Apache-2.0
#include "core/diff/judge_together.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "core/base/interrupted.hpp"
#include "core/diff/judge_masters.hpp"
#include "core/diff/judge_own_roundoff.hpp"
#include "core/diff/locate_recomputed.hpp"
#include "core/diff/named_as_reference.hpp"
#include "core/noise/apart_after.hpp"
#include "core/noise/noise.hpp"
#include "core/recompute/recompute.hpp"

namespace ttcheck::diff {

namespace {

/// Once a step, where something differs: excusing, condemning and locating ask them.
void make_graphs(MetStep& met, std::span<const TensorResult> results,
                 const noise::Carried& carried) {
  if (met.trace && met.graphs == nullptr &&
      std::ranges::any_of(
          results, [](const TensorResult& one) { return one.outcome() != Outcome::equal; })) {
    met.graphs = std::make_shared<Graphs>(
        Graphs{recompute::Graph(met.reference(), carried.parameters[0], met.step),
               recompute::Graph(met.candidate(), carried.parameters[1], met.step)});
  }
}

}  // namespace

void excuse_by_chance(MetStep& met, std::span<TensorResult> results, DiffContext& context) {
  noise::Carried& carried = context.memory.noise;
  make_graphs(met, results, carried);
  if (!met.graphs) return;
  recompute::Recompute recompute(met.graphs->reference, met.graphs->candidate,
                                 [] { return interrupted() != 0; });
  std::optional<ReferenceNames> names;
  const noise::Ask ask = [&](const TensorResult& result) {
    recompute::Recomputed recomputed = recompute_result(met, result, recompute);
    if (!names) names.emplace(met);
    names->give(recomputed);
    return recomputed;
  };
  noise::settle(records_of(met, context), results, carried, ask);
}

void judge_together(MetStep& met, std::span<TensorResult> results, DiffContext& context) {
  noise::Carried& carried = context.memory.noise;
  excuse_by_chance(met, results, context);
  judge_masters(met, results);
  judge_own_roundoff(met, results, context);
  carried.apart = noise::apart_after(results, carried.apart);
}

}  // namespace ttcheck::diff
