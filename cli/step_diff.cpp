#include "cli/step_diff.hpp"

#include <span>
#include <utility>

#include "cli/apart_heirs.hpp"
#include "cli/coarse_masters.hpp"
#include "cli/conclusion.hpp"
#include "cli/judging.hpp"
#include "cli/meet_step.hpp"
#include "cli/noise_updates.hpp"
#include "cli/recomputing.hpp"
#include "cli/settle_noise.hpp"
#include "cli/unpaired_non_finite.hpp"
#include "cli/until_bad.hpp"
#include "core/base/parallel.hpp"
#include "core/base/until_exit.hpp"

namespace ttcheck::cli {

void diff_step(const StepPair& steps, DiffContext& context, Verdict& verdict) {
  const std::size_t before = verdict.tensors.size();
  std::optional<MetStep> met = meet_step(steps, context, verdict);
  if (!met) return;
  const bool hashes = verdict.tensors.size() > before;
  if (context.options.predicate == Predicate::non_finite) {
    context.non_finite = unpaired_non_finite(*met, steps.step, context.options, verdict);
  }
  if (context.until_bad) {
    auto compared = compare_until_bad(*met, context.options, context.apart);
    context.bad = !compared;
    if (context.bad) return;
    judge_compared(met->work, std::move(*compared), met->trace, steps, context, verdict);
  } else {
    judge_all(met->work, met->trace, steps, context, verdict);
  }
  const auto results = std::span(verdict.tensors).subspan(before);
  if (hashes) sort_results(results, met->alignment, met->sides->front().assembly.tensors);
  settle_noise(*met, results, steps, context, verdict);
  settle_heirs(*met, results, context, verdict);
  judge_masters(*met, results, verdict);
  context.apart = apart_after(results, context.apart);
  conclude_step(*met, results, context, verdict);
  auto& [a, b] = *met->sides;
  if (!a.named.empty() || !b.named.empty()) {
    context.named.push_back({steps.step, {std::move(a.named), std::move(b.named)}});
  }
  if (context.last_step) return keep_until_exit(met->sides);
  if (met->trace) keep_parameters(*met, context);
  parallel_for(met->sides->size(), [&](std::size_t i) { met->sides->at(i).assembly = {}; });
}

}  // namespace ttcheck::cli
