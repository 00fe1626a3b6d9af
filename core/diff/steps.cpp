// SPDX-License-Identifier: Apache-2.0
#include "core/diff/steps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "core/base/first_few.hpp"
#include "core/diff/other_steps.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::diff {
namespace {

bool numbered(const Run& run) {
  return std::ranges::any_of(run.steps, &std::optional<std::int64_t>::has_value);
}

Finding step_finding(Code code, std::int64_t step, std::string_view side) {
  Finding finding;
  finding.code = code;
  finding.severity = Severity::warning;
  finding.step = step;
  finding.message = fmt::format("step {} is only in the {}", step, side);
  return finding;
}

std::string steps_of(const Run& run) {
  constexpr std::size_t kMostNamed = 16;
  std::vector<std::string> steps;
  for (const auto& step : run.steps) {
    if (step) steps.push_back(std::to_string(*step));
  }
  return first_few(steps, kMostNamed);
}

/// What steps there are, where --step names none of them.
void say_steps(const Run& run, std::string_view side, Verdict& verdict) {
  Finding finding;
  finding.code = side == "reference" ? Code::unexpected : Code::missing;
  finding.severity = Severity::warning;
  finding.message =
      fmt::format("--step names no step of the {}, which has {}", side, steps_of(run));
  verdict.findings.push_back(std::move(finding));
}

Finding newest_note(std::int64_t step, std::string_view side) {
  return verdict::note(
      Code::missing, step,
      fmt::format("the other side has no step numbers: it meets the newest complete step {} of the "
                  "{}",
                  step, side));
}

/// Notes that a state says it is of a step that is not there.
Finding other_step_note(const StatedStep& stated, std::int64_t step, std::string_view single,
                        std::string_view series) {
  return verdict::note(
      Code::missing, step,
      fmt::format("the {} says that it is of step {} ({}), which is none of these of the {}: it "
                  "meets the newest complete one, step {}",
                  single, stated.step, stated.by, series, step));
}

Finding stated_note(const StatedStep& stated, std::string_view single, std::string_view series) {
  return verdict::note(Code::missing, stated.step,
                       fmt::format("the {} says that it is of step {} ({}): it meets that step of "
                                   "the {}",
                                   single, stated.step, stated.by, series));
}

/// Why a step is not whole, as far as its metadata tell; nothing where it is.
std::optional<Finding> fault_of(const Run& run, std::size_t index) {
  Finding fault;
  try {
    const ttcheck::State state = run.open(index);
    const auto told = std::ranges::find_if(state.findings, &Finding::incomplete);
    if (told != state.findings.end()) {
      fault = *told;
    } else if (!state.missing_ranks.empty()) {
      fault.code = Code::missing_rank;
      fault.message = fmt::format("ranks without files: {}", state.missing_ranks.size());
    } else if (!state.unreadable_ranks.empty()) {
      fault.where = state.unreadable_ranks.begin()->second.where();
      fault.message = state.unreadable_ranks.begin()->second.message();
    } else {
      return std::nullopt;
    }
  } catch (const Error& error) {
    fault.where = error.where();
    fault.message = error.message();
  }
  if (fault.code == Finding{}.code) fault.code = Code::unreadable;
  fault.severity = Severity::warning;
  fault.incomplete = false;
  fault.step = run.steps[index];
  fault.message += fmt::format("; step {} is passed over for an older one", *run.steps[index]);
  return fault;
}

/// The newest of these steps that is whole, else the newest. Says which were passed over.
std::size_t newest_whole(const Run& run, std::span<const std::size_t> steps, Verdict& verdict) {
  std::vector<Finding> faults;
  for (std::size_t i = steps.size(); steps.size() > 1 && i-- > 0;) {
    std::optional<Finding> fault = fault_of(run, steps[i]);
    if (!fault) {
      std::ranges::move(faults, std::back_inserter(verdict.findings));
      return steps[i];
    }
    faults.push_back(std::move(*fault));
  }
  return steps.back();
}

/// A side, and its steps that take part.
struct Chosen {
  const Run& run;
  std::span<const std::size_t> steps;
};

/// Two sides of which one at least has no step numbers, and no more than one state.
StepPair meet_unnumbered(const Chosen& left, const Chosen& right, Verdict& verdict) {
  const bool left_numbers = numbered(left.run);
  const bool right_numbers = numbered(right.run);
  const Chosen& series = left_numbers ? left : right;
  const Chosen& single = left_numbers ? right : left;
  const std::string_view of_series = left_numbers ? "reference" : "candidate";
  const std::string_view of_single = left_numbers ? "candidate" : "reference";
  if (!left_numbers && !right_numbers) return {left.steps.back(), right.steps.back(), {}};
  const bool choice = series.steps.size() > 1;
  std::size_t index = series.steps.front();
  const std::vector<StatedStep> said =
      choice ? steps_said(single.run, series.run) : std::vector<StatedStep>();
  if (const auto met = step_met(said, series.run, series.steps)) {
    index = met->index;
    verdict.findings.push_back(stated_note(met->stated, of_single, of_series));
  } else if (choice) {
    index = newest_whole(series.run, series.steps, verdict);
    const std::int64_t newest = *series.run.steps[index];
    verdict.findings.push_back(said.empty()
                                   ? newest_note(newest, of_series)
                                   : other_step_note(said.front(), newest, of_single, of_series));
  }
  const std::optional<std::int64_t> step = series.run.steps[index];
  const std::size_t other = single.steps.back();
  return left_numbers ? StepPair{index, other, step} : StepPair{other, index, step};
}

}  // namespace

void require_steps(std::span<const NamedRun> runs, const std::optional<StepRange>& range) {
  if (!range) return;
  const bool numbers = std::ranges::any_of(
      runs, [](const NamedRun& one) { return one.run.several || numbered(one.run); });
  std::vector<std::string> words;
  for (const auto& [run, name] : runs) {
    if (run.several) return;  // each of its runs has steps of its own
    if (numbered(run)) {
      if (!steps_in_range(run, range).empty()) return;
      words.push_back(fmt::format("the {} has {}", name, steps_of(run)));
    } else if (!numbers) {
      const std::vector<StatedStep> said = steps_said(run, run);
      if (!said.empty() && range->contains(said.front().step)) return;
      words.push_back(said.empty() ? fmt::format("the {} has no step number", name)
                                   : fmt::format("the {} is of step {}", name, said.front().step));
    }
  }
  throw Error(fmt::format("--step names no step: {}", fmt::join(words, ", ")))
      .because("no-such-step");
}

double updates_made(const Run& reference, const StepPair& steps) {
  const auto place = static_cast<double>(steps.reference) + 1;
  const auto& first = reference.steps.front();
  if (!steps.step || !first) return place;
  return std::max(place, static_cast<double>(*steps.step) + (*first == 0 ? 1 : 0));
}

std::vector<std::size_t> steps_in_range(const Run& run, const std::optional<StepRange>& range) {
  const bool any = !numbered(run);
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    if (!range || any || range->contains(run.steps[i])) indices.push_back(i);
  }
  return indices;
}

std::vector<StepPair> pair_steps(const Run& reference, const Run& candidate,
                                 const std::optional<StepRange>& range, Verdict& verdict) {
  const bool left_numbers = numbered(reference);
  const bool right_numbers = numbered(candidate);
  const std::vector<std::size_t> left = steps_in_range(reference, range);
  const std::vector<std::size_t> right = steps_in_range(candidate, range);
  if (left.empty() && left_numbers) say_steps(reference, "reference", verdict);
  if (right.empty() && right_numbers) say_steps(candidate, "candidate", verdict);
  if (left.empty() || right.empty()) return {};
  if (!left_numbers || !right_numbers) {
    return {meet_unnumbered({reference, left}, {candidate, right}, verdict)};
  }
  std::vector<StepPair> pairs;
  for (const std::size_t i : left) {
    const auto j = std::ranges::find_if(
        right, [&](std::size_t at) { return candidate.steps[at] == reference.steps[i]; });
    if (j != right.end()) {
      pairs.push_back({i, *j, reference.steps[i]});
    } else if (reference.steps[i]) {
      verdict.coverage.steps_only_reference.push_back(*reference.steps[i]);
      verdict.findings.push_back(step_finding(Code::missing, *reference.steps[i], "reference"));
    }
  }
  for (const std::size_t j : right) {
    const bool met =
        std::ranges::any_of(pairs, [&](const StepPair& pair) { return pair.candidate == j; });
    if (met || !candidate.steps[j]) continue;
    verdict.coverage.steps_only_candidate.push_back(*candidate.steps[j]);
    verdict.findings.push_back(step_finding(Code::unexpected, *candidate.steps[j], "candidate"));
  }
  return pairs;
}

}  // namespace ttcheck::diff
