// SPDX-License-Identifier: Apache-2.0
#include "core/diff/open_sides.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "core/assemble/data_parallel.hpp"
#include "core/assemble/lost_ranks.hpp"
#include "core/assemble/undeclared.hpp"
#include "core/base/name_map.hpp"
#include "core/base/parallel.hpp"
#include "core/diff/other_steps.hpp"
#include "core/diff/undeclared.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::diff {
namespace {

/// One side, or why it could not be opened.
struct Opening {
  const Run& run;
  std::size_t index;
  OpenedStep& step;
  RunSummary& summary;
  std::set<std::string>& names;
  std::optional<Error> error{};

  template <class Do>
  void attempt(Do&& what) {
    if (error) return;
    try {
      what();
    } catch (const Error& caught) {
      error = caught;
    }
  }
};

/// Distinct names of the tensors; kept from step to step only where there are several.
std::int64_t count_names(const Run& run, std::span<const Tensor> tensors,
                         std::set<std::string>& names) {
  if (run.steps.size() > 1) {
    for (const Tensor& tensor : tensors) names.insert(tensor.identity.name);
    return std::ssize(names);
  }
  if (!run.trace) return std::ssize(tensors);  // a checkpoint's identities are names
  NameViewSet seen;
  for (const Tensor& tensor : tensors) seen.insert(tensor.identity.name);
  return std::ssize(seen);
}

/// Places what files do not say how to place: by rank where both sides have the same of them, else
/// by the other side's shapes.
void place_undeclared(std::array<OpenedStep, 2>& sides, const DiffContext& context) {
  auto& [a, b] = sides;
  const auto step = a.state.step;
  const assemble::Lost lost = assemble::meet_lost_ranks(a.state, b.state);
  if (lost.met > 0) a.findings.push_back(lost_note(lost.met, step));
  if (lost.left_out > 0) a.findings.push_back(untold_note(lost.left_out, step));
  if (const auto placed = assemble::place_by_rank(a.state.records, b.state.records); placed > 0) {
    a.findings.push_back(by_rank_note(placed, step));
  }
  const auto by_shape = [&](OpenedStep& side, const OpenedStep& other, const Mesh& mesh) {
    const auto placed = assemble::place_by_shape(side.state.records, other.state.records, mesh);
    if (placed > 0) side.findings.push_back(placed_note(placed, step));
  };
  by_shape(a, b, context.reference.mesh);
  by_shape(b, a, context.candidate.mesh);
  const auto by_data = [&](OpenedStep& side, const OpenedStep& other, const Mesh& mesh) {
    const auto made = assemble::state_data_parallel(side.state.records, other.state.records, mesh);
    if (made.tensors > 0) side.findings.push_back(data_parallel_note(made, step));
  };
  by_data(a, b, context.reference.mesh);
  by_data(b, a, context.candidate.mesh);
  for (OpenedStep* side : {&a, &b}) {
    const auto left_out = assemble::leave_out_unlike(side->state.records);
    if (left_out > 0) side->findings.push_back(unlike_note(left_out, step));
  }
}

/// What a side says of its step, in the words of the other one: in a series that goes by names the
/// number of the step is what its name says.
std::vector<StatedStep> said_of_step(const Opening& side, const Opening& other) {
  std::vector<StatedStep> said = side.step.stated;
  const auto& step = side.run.steps[side.index];
  const auto& here = side.step.state.in_series;
  const auto& there = other.step.state.in_series;
  if (step && there && there->by == side.run.step_form) {
    said.insert(said.begin(), {"its name", *step});
  } else if (!step && here && here->by == other.run.step_form) {
    said.insert(said.begin(), {"its name", here->step});
  }
  return said;
}

/// What a state without a number says of its step; of two that differ, before all else.
void tell_steps(std::span<Opening> openings, Verdict& verdict) {
  bool numbered = true;
  for (Opening& side : openings) {
    const std::vector<StatedStep>& stated = side.step.stated;
    const bool single = !side.run.steps[side.index];
    if (single && !stated.empty()) side.summary.steps = {stated.front().step};
    numbered = numbered && !single;
  }
  if (numbered) return;
  if (auto told = of_other_steps(said_of_step(openings[0], openings[1]),
                                 said_of_step(openings[1], openings[0]))) {
    verdict.findings.insert(verdict.findings.begin(), std::move(*told));
  }
}

/// Counters that disagree on one side alone are a difference between the sides.
void raise_counters(std::array<OpenedStep, 2>& sides) {
  constexpr auto kTells = [](const Finding& finding) { return finding.code == Code::step_counter; };
  auto& [a, b] = sides;
  const bool here = std::ranges::any_of(a.findings, kTells);
  if (here == std::ranges::any_of(b.findings, kTells)) return;
  for (Finding& finding : here ? a.findings : b.findings) {
    if (kTells(finding)) finding.severity = Severity::error;
  }
}

/// Says what is known of the side; false when it cannot be compared. One bad step of several does
/// not end the comparison.
bool add_side(Opening& side, Verdict& verdict) {
  if (side.error && side.run.steps.size() == 1) throw Error(*side.error);
  verdict.coverage.bytes_unclaimed += side.step.bytes_unclaimed;
  verdict.coverage.unreadable += side.step.unreadable;
  append(verdict.findings, side.step.findings);
  if (side.error) {
    verdict::report_unread_step(*side.error, side.run.steps[side.index], verdict);
    return false;
  }
  const std::vector<Tensor>& tensors = side.step.assembly.tensors;
  side.summary.bytes += side.step.bytes;
  side.summary.tensors = count_names(side.run, tensors, side.names);
  return true;
}

}  // namespace

std::shared_ptr<std::array<OpenedStep, 2>> open_sides(const StepPair& steps, DiffContext& context,
                                                      Verdict& verdict) {
  auto sides = std::make_shared<std::array<OpenedStep, 2>>();
  auto& [a, b] = *sides;
  std::array<Opening, 2> openings{Opening{context.reference, steps.reference, a, *verdict.reference,
                                          context.memory.reference_names},
                                  Opening{context.candidate, steps.candidate, b, *verdict.candidate,
                                          context.memory.candidate_names}};
  for (Opening& side : openings) {  // reading may use all threads by itself
    side.attempt([&] { side.step = read_step(side.run, side.index); });
  }
  tell_steps(openings, verdict);
  place_undeclared(*sides, context);
  parallel_for(openings.size(), [&](std::size_t i) {
    Opening& side = openings[i];
    side.attempt([&] { put_together(side.run, side.step); });
    side.step.state = {};
  });
  raise_counters(*sides);
  const bool has_a = add_side(openings[0], verdict);
  const bool has_b = add_side(openings[1], verdict);
  if (has_a && has_b) return sides;
  // What of one side could be opened has no counterpart.
  for (const OpenedStep& side : *sides) {
    verdict.coverage.unreadable += std::ssize(side.assembly.tensors);
  }
  return nullptr;
}

}  // namespace ttcheck::diff
