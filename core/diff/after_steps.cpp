// SPDX-License-Identifier: Apache-2.0
#include "core/diff/after_steps.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "core/base/interrupted.hpp"
#include "core/diff/compared_once.hpp"
#include "core/diff/head.hpp"
#include "core/diff/left_before.hpp"
#include "core/diff/step.hpp"
#include "core/diff/steps.hpp"

namespace ttcheck::diff {
namespace {

/// The steps of two traces that --step leaves out in front of the first that it admits.
std::vector<StepPair> steps_before(const DiffContext& context) {
  const Run& reference = context.reference;
  const Run& candidate = context.candidate;
  if (!context.how.steps || !reference.trace || !candidate.trace) return {};
  Verdict unused;
  const auto chosen = pair_steps(reference, candidate, context.how.steps, unused);
  auto pairs = pair_steps(reference, candidate, std::nullopt, unused);
  const auto first = std::ranges::find_if(pairs, [&](const StepPair& pair) {
    return chosen.empty() || pair.reference == chosen.front().reference;
  });
  pairs.erase(first, pairs.end());
  return pairs;
}

/// What they leave as a diff of all steps knows it.
LeftBefore left_by_whole(std::span<const StepPair> before, const DiffContext& context) {
  DiffContext whole = context;
  whole.how.hooks = {};
  Verdict unused = head_of(context.reference, context.candidate);
  for (const StepPair& steps : before) {
    if (interrupted() != 0) break;
    diff_step(steps, false, whole, unused);
    unused.tensors.clear();
    unused.findings.clear();
  }
  LeftBefore left;
  left.noise = std::move(whole.memory.noise);
  left.noise.whole = true;
  return left;
}

}  // namespace

Verdict judge_after_steps(const DiffContext& context,
                          const std::function<Verdict(DiffContext)>& judge) {
  const std::vector<StepPair> before = steps_before(context);
  if (before.empty()) return judge(context);
  ComparedOnce once;
  const auto judge_after = [&](LeftBefore left) {
    DiffContext after = context;
    after.once = &once;
    after.memory.noise = std::move(left.noise);
    return judge(std::move(after));
  };
  DiffContext last = context;
  Verdict verdict = judge_after(parameters_left_by(before.back(), last));
  if (interrupted() != 0) return verdict;
  const bool quiet = verdict.outcome && *verdict.outcome <= Outcome::noise;
  if (quiet && rests_on_before(verdict).empty()) return verdict;
  return judge_after(left_by_whole(before, context));
}

}  // namespace ttcheck::diff
