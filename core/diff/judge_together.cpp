#include "core/diff/judge_together.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "core/diff/judge_masters.hpp"
#include "core/diff/locate_recomputed.hpp"
#include "core/diff/named_as_reference.hpp"
#include "core/noise/noise.hpp"
#include "core/noise/passed_on.hpp"
#include "core/noise/updates.hpp"

namespace ttcheck::diff {

void excuse_by_chance(MetStep& met, std::span<TensorResult> results, DiffContext& context,
                      Verdict& verdict) {
  noise::Carried& carried = context.memory.noise;
  if (met.trace && met.graphs == nullptr &&
      std::ranges::any_of(results,
                          [](const TensorResult& one) { return one.outcome != Outcome::equal; })) {
    met.graphs = std::make_shared<Graphs>(
        Graphs{recompute::Graph(met.reference(), carried.parameters[0], met.step),
               recompute::Graph(met.candidate(), carried.parameters[1], met.step)});
  }
  noise::settle(records_of(met, context), results, carried, verdict.findings);
  if (met.graphs && noise::may_be_passed_on(results, carried)) {
    std::vector<recompute::Recomputed> recomputed(results.size());
    recompute_step(met, results, recomputed);
    name_as_reference(met, recomputed);
    noise::settle_passed_on(results, recomputed, carried, verdict.findings);
  }
}

void judge_together(MetStep& met, std::span<TensorResult> results, DiffContext& context,
                    Verdict& verdict) {
  noise::Carried& carried = context.memory.noise;
  excuse_by_chance(met, results, context, verdict);
  judge_masters(met, results);
  carried.apart = noise::apart_after(results, carried.apart);
}

}  // namespace ttcheck::diff
