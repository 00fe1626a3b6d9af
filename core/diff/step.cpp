// SPDX-License-Identifier: Apache-2.0
#include "core/diff/step.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "core/base/interrupted.hpp"
#include "core/base/parallel.hpp"
#include "core/base/until_exit.hpp"
#include "core/diff/judge_pairs.hpp"
#include "core/diff/judge_together.hpp"
#include "core/diff/judge_unread.hpp"
#include "core/diff/judge_until_bad.hpp"
#include "core/diff/keep_parameters.hpp"
#include "core/diff/meet.hpp"
#include "core/diff/tell_step.hpp"
#include "core/diff/unpaired_non_finite.hpp"
#include "core/locate/first.hpp"
#include "core/noise/noise.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::diff {
namespace {

/// Every pair gets a result, by its limit alone; false where the step is bad and no more is wanted.
bool judge(MetStep& met, DiffContext& context, Verdict& verdict) {
  judge_unread(met, context, verdict);
  if (context.how.seek_non_finite) {
    context.told.non_finite = unpaired_non_finite(met, context.how, verdict);
  }
  if (!context.how.until_bad) {
    judge_all(met.work, met.trace, met.steps, context, verdict, met.unreported);
    return true;
  }
  context.told.bad = !judge_until_bad(met, context, verdict);
  return !context.told.bad;
}

/// What was excused and by which rules; or that a signal came before it was asked.
void report_chance(std::span<const TensorResult> results, DiffContext& context, Verdict& verdict) {
  if (auto note = noise::note_of(results)) verdict.findings.push_back(*std::move(note));
  if (interrupted() == 0 || context.told.cut_short || !locate::first_diverged(results)) return;
  context.told.cut_short = true;
  verdict.findings.push_back(
      verdict::interruption("whether what differs may be chance was not looked at to the end"));
}

/// Whether a trace's step is bad and that is all that is wanted: where it is wrong is not looked
/// for, nor what is wrong within its limit. The first step may show that nothing can be compared.
bool is_enough(const MetStep& met, std::span<const TensorResult> results,
               const DiffContext& context) {
  return context.how.until_bad && met.trace && !context.memory.first_step &&
         locate::first_diverged(results).has_value();
}

/// What the next step needs is taken along; the rest is freed.
void hand_over(MetStep& met, bool last, DiffContext& context) {
  auto& [a, b] = *met.sides;
  if (!a.named.empty() || !b.named.empty()) {
    context.told.named.push_back(
        {met.step, {std::move(a.named), std::move(b.named)}, Severity::note});
  }
  if (last) return keep_until_exit(met.sides);
  if (met.trace) keep_parameters(met, context.memory.noise);
  parallel_for(met.sides->size(), [&](std::size_t i) { met.sides->at(i).assembly = {}; });
}

}  // namespace

void diff_step(const StepPair& steps, bool last, DiffContext& context, Verdict& verdict) {
  const std::size_t before = verdict.tensors.size();
  context.begin("meet");
  std::optional<MetStep> met = meet_step(steps, context, verdict);
  if (!met) return;
  context.begin("judge");
  if (!judge(*met, context, verdict)) return;
  judge_evidence(*met, context, verdict);
  const auto results = [&] { return std::span(verdict.tensors).subspan(before); };
  std::ranges::stable_sort(results(), {}, &TensorResult::pair);
  context.begin("excuse");
  judge_together(*met, results(), context);
  drop_evidence(*met, before, verdict);
  report_chance(results(), context, verdict);
  if (is_enough(*met, results(), context)) {
    context.told.bad = true;
    return;
  }
  context.begin("locate");
  tell_step(*met, results(), context, verdict);
  hand_over(*met, last, context);
}

}  // namespace ttcheck::diff
