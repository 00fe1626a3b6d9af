// SPDX-License-Identifier: Apache-2.0
#include "core/diff/left_before.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/interrupted.hpp"
#include "core/diff/head.hpp"
#include "core/diff/judge_pairs.hpp"
#include "core/diff/judge_together.hpp"
#include "core/diff/judge_unread.hpp"
#include "core/diff/keep_parameters.hpp"
#include "core/diff/meet.hpp"
#include "core/locate/first.hpp"
#include "core/noise/apart_after.hpp"
#include "core/noise/calls.hpp"
#include "core/noise/excuse.hpp"
#include "core/noise/parameter_place.hpp"
#include "core/noise/passed_on.hpp"
#include "core/noise/rules.hpp"
#include "core/noise/update_length.hpp"

namespace ttcheck::diff {
namespace {

/// The pairs that tell what the step leaves: weights behind its update or, where it records none,
/// the state that those before it left; of an optimizer's calls, which lie behind all others, what
/// they put in and out.
Work that_tell(const Work& work, const noise::StepRecords& records, const ParameterNames& only) {
  const Phase phase = noise::records_updates(records) ? Phase::optimizer : Phase::state;
  bool calls = false;
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < work.pairs.size(); ++i) {
    const Tensor& tensor = *work.pairs[i].reference;
    calls = calls || noise::is_call_in_place(tensor);
    const bool asked = only.empty() || only.contains(tensor.identity.name) ||
                       only.contains(module_of(tensor.identity));
    const bool weight = asked && tensor.kind == Kind::weight && tensor.identity.phase == phase;
    const bool counted = calls && is_counted(tensor);
    if (weight || counted) wanted.push_back(i);
  }
  return some_of(work, wanted);
}

/// The gradients along which the update went of parameters that are beyond what it may leave: a
/// gradient that diverged excuses nothing. `all`: of those within it, too, as later steps may be
/// beyond it by what these add up to. `part`: noise::new_part.
Work gradients_of(const Work& work, std::span<const TensorResult> results,
                  std::span<const noise::RecordPair> pairs, bool all, double part) {
  std::set<std::string> places;
  for (const TensorResult& one : results) {
    const bool open = all || one.outcome() == Outcome::diverged || noise::may_go_on(one, part);
    if (open && is_parameter(one.kind)) {
      places.insert(noise::parameter_place(*pairs[one.pair].reference));
    }
  }
  std::map<std::string, std::size_t> last;
  for (std::size_t i = 0; i < work.pairs.size() && !places.empty(); ++i) {
    const Tensor& tensor = *work.pairs[i].reference;
    if (!noise::is_parameter_gradient(tensor.kind)) continue;
    std::string place = noise::parameter_place(tensor);
    if (places.contains(place)) last.insert_or_assign(std::move(place), i);
  }
  std::vector<std::size_t> wanted;
  for (const std::size_t i : std::views::values(last)) wanted.push_back(i);
  std::ranges::sort(wanted);
  return some_of(work, wanted);
}

}  // namespace

LeftBefore left_by(const StepPair& steps, DiffContext& context, const ParameterNames& only) {
  // A weight that is hidden is bad where its own step is judged.
  context.how.seek_sentinels = false;
  Verdict verdict = head_of(context.reference, context.candidate);
  std::optional<MetStep> met = meet_step(steps, context, verdict);
  if (!met || !met->trace) return {};
  noise::Carried& carried = context.memory.noise;
  const noise::StepRecords records = records_of(*met, context);
  judge_unread(*met, context, verdict);
  for (const Work* const work : {&met->work, &met->unreported}) {
    Work weights = that_tell(*work, records, only);
    judge_all(weights, true, steps, context, verdict);
  }
  const bool multiples = noise::stated_multiple(records).has_value();
  for (const Work* const work : {&met->work, &met->unreported}) {
    Work gradients =
        gradients_of(*work, verdict.tensors, met->pairs, multiples, noise::new_part(records));
    judge_all(gradients, true, steps, context, verdict);
  }
  std::ranges::stable_sort(verdict.tensors, {}, &TensorResult::pair);
  excuse_by_chance(*met, verdict.tensors, context);
  const bool calls = std::ranges::any_of(met->reference(), noise::is_call_in_place);
  keep_parameters(*met, carried);
  carried.apart = noise::apart_after(verdict.tensors, carried.apart);
  return {std::move(carried), calls};
}

LeftBefore parameters_left_by(const StepPair& steps, DiffContext& context) {
  Verdict unused = head_of(context.reference, context.candidate);
  std::optional<MetStep> met = meet_step(steps, context, unused);
  if (!met || !met->trace) return {};
  keep_parameters(*met, context.memory.noise);
  LeftBefore left;
  left.noise.parameters = std::move(context.memory.noise.parameters);
  return left;
}

LeftBefore left_by_all(std::span<const StepPair> steps, const DiffContext& first, LeftBefore left,
                       const ParameterNames& only) {
  for (std::size_t i = 0; i < steps.size() && interrupted() == 0; ++i) {
    DiffContext context = first;
    context.memory.first_step = first.memory.first_step && i == 0;
    context.memory.noise = std::move(left.noise);
    left = left_by(steps[i], context, only);
    left.noise.whole = true;
  }
  return left;
}

ParameterNames rests_on_before(const Verdict& verdict, const noise::Carried& left) {
  ParameterNames names;
  for (const TensorResult& one : verdict.tensors) {
    if (!one.allowance || !noise::rule_named(one.allowance->rule).earlier) continue;
    const std::string module(module_of(one.identity)), path = module + "/";
    const auto known = left.elements.lower_bound(path);
    auto at = known;
    for (; at != left.elements.end() && at->first.starts_with(path); ++at) names.insert(at->first);
    if (at == known) names.insert(module);
  }
  return names;
}

bool is_bad_whatever_was_left(const Verdict& verdict) {
  constexpr std::array kCodes = {Code::op_wrong, Code::conservation, Code::norm_mismatch,
                                 Code::bit_flip, Code::replica_mismatch};
  const auto first = locate::first_diverged(verdict.tensors);
  if (!first) return false;
  const TensorResult& result = verdict.tensors[*first];
  if (noise::is_parameter_gradient(result.kind) && result.metrics.rel() >= 1) return true;
  return std::ranges::any_of(verdict.findings, [&](const Finding& finding) {
    return finding.severity == Severity::error && finding.step == result.step &&
           finding.tensor == result.identity.name &&
           std::ranges::find(kCodes, finding.code) != kCodes.end();
  });
}

bool is_bad_by_little(const Verdict& verdict) {
  const auto first = locate::first_diverged(verdict.tensors);
  return verdict.outcome == Outcome::diverged && first &&
         verdict.tensors[*first].ratio <= noise::kLittle;
}

}  // namespace ttcheck::diff
