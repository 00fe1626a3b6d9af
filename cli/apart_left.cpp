#include "cli/apart_left.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/diff.hpp"
#include "cli/interrupt.hpp"
#include "cli/judging.hpp"
#include "cli/longest_update.hpp"
#include "cli/meet_step.hpp"
#include "cli/noise_calls.hpp"
#include "cli/noise_updates.hpp"
#include "cli/recomputing.hpp"
#include "core/locate/first.hpp"

namespace ttcheck::cli {

ApartLeft apart_left_by(const StepPair& steps, DiffContext& context) {
  Verdict verdict = head_of(context.reference, context.candidate, context.options);
  std::optional<MetStep> met = meet_step(steps, context, verdict);
  if (!met || !met->trace) return {};
  settle_noise_calls(*met, verdict.tensors, context, verdict);
  verdict.tensors.clear();  // equal by their hashes, or judged without bytes
  const auto& sides = *met->sides;
  Work weights;
  weights.context =
      context_of_records(sides.front().assembly.tensors, sides.back().assembly.tensors);
  weights.context->trace = true;
  // Where a step does not record what its update left, its state is what those before it left.
  const Phase phase = records_updates(*met) ? Phase::optimizer : Phase::state;
  bool calls = false;  // an optimizer's are behind all others
  for (std::size_t i = 0; i < met->work.pairs.size(); ++i) {
    const Tensor& tensor = *met->work.pairs[i].reference;
    calls = calls || is_call_in_place(tensor);
    const bool weight = tensor.kind == Kind::weight && tensor.identity.phase == phase;
    if (!weight && !(calls && tensor.trace && !tensor.trace->counted.base.empty())) continue;
    weights.pairs.push_back(met->work.pairs[i]);
    weights.rules.push_back(met->work.rules[i]);
  }
  judge_all(weights, true, steps, context, verdict);
  settle_noise_calls(*met, verdict.tensors, context, verdict);
  settle_noise_updates(*met, verdict.tensors, steps, context, verdict);
  const bool recorded = std::ranges::any_of(sides.front().assembly.tensors, is_call_in_place);
  keep_parameters(*met, context);
  return {recorded, apart_after(verdict.tensors, context.apart), std::move(context.carried),
          std::move(context.parameters)};
}

ApartLeft parameters_left_by(const StepPair& steps, DiffContext& context) {
  Verdict unused = head_of(context.reference, context.candidate, context.options);
  std::optional<MetStep> met = meet_step(steps, context, unused);
  if (!met || !met->trace) return {};
  keep_parameters(*met, context);
  ApartLeft left;
  left.parameters = std::move(context.parameters);
  return left;
}

ApartLeft apart_left_by_all(std::span<const StepPair> steps, const DiffContext& first) {
  ApartLeft left;
  for (const StepPair& one : steps) {
    if (interrupted() != 0) break;
    DiffContext context = first;
    context.apart = left.apart;
    context.carried = std::move(left.carried);
    context.parameters = std::move(left.parameters);
    left = apart_left_by(one, context);
  }
  return left;
}

bool is_bad_by_little(const Verdict& verdict) {
  const auto first = locate::first_diverged(verdict.tensors);
  return verdict.outcome == Outcome::diverged && first && verdict.tensors[*first].ratio <= kLittle;
}

}  // namespace ttcheck::cli
