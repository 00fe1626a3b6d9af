#include "cli/apart_left.hpp"

#include <optional>
#include <utility>

#include "cli/diff.hpp"
#include "cli/judging.hpp"
#include "cli/meet_step.hpp"
#include "cli/noise_updates.hpp"

namespace ttcheck::cli {

ApartLeft apart_left_by(const StepPair& steps, DiffContext& context) {
  Verdict verdict = head_of(context.reference, context.candidate, context.options);
  const std::optional<MetStep> met = meet_step(steps, context, verdict);
  if (!met || !met->trace) return {};
  verdict.tensors.clear();  // equal by their hashes, or judged without bytes
  const auto& sides = *met->sides;
  Work weights;
  weights.context =
      context_of_records(sides.front().assembly.tensors, sides.back().assembly.tensors);
  weights.context->trace = true;
  for (std::size_t i = 0; i < met->work.pairs.size(); ++i) {
    const Tensor& tensor = *met->work.pairs[i].reference;
    if (tensor.kind != Kind::weight || tensor.identity.phase != Phase::optimizer) continue;
    weights.pairs.push_back(met->work.pairs[i]);
    weights.rules.push_back(met->work.rules[i]);
  }
  judge_all(weights, true, steps, context, verdict);
  settle_noise_updates(*met, verdict.tensors, steps, context, verdict);
  return {apart_after(verdict.tensors), std::move(context.carried)};
}

}  // namespace ttcheck::cli
