// SPDX-License-Identifier: Apache-2.0
#include "core/diff/other_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/verdict/findings.hpp"

namespace ttcheck::diff {

std::vector<StatedStep> steps_said(const Run& single, const Run& series) {
  try {
    ttcheck::State state = single.open(0);
    std::vector<StatedStep> said = std::move(state.stated);
    if (state.in_series && state.in_series->by == series.step_form) {
      said.insert(said.begin(), {"its name", state.in_series->step});
    }
    return said;
  } catch (const Error&) {
    return {};  // said when it is compared
  }
}

std::optional<StepMet> step_met(std::span<const StatedStep> said, const Run& series,
                                std::span<const std::size_t> among) {
  for (const StatedStep& one : said) {
    const auto met = std::ranges::find_if(
        among, [&](std::size_t index) { return series.steps[index] == one.step; });
    if (met != among.end()) return StepMet{*met, one};
  }
  return std::nullopt;
}

std::optional<Finding> of_other_steps(std::span<const StatedStep> reference,
                                      std::span<const StatedStep> candidate) {
  for (const StatedStep& one : reference) {
    const auto other = std::ranges::find(candidate, one.by, &StatedStep::by);
    if (other == candidate.end()) continue;
    if (other->step == one.step) return std::nullopt;
    Finding finding = verdict::note(
        Code::missing, {},
        fmt::format("two states of different steps: the reference is of step {}, the candidate of "
                    "step {}, as {} says",
                    one.step, other->step, one.by));
    finding.severity = Severity::warning;
    return finding;
  }
  return std::nullopt;
}

}  // namespace ttcheck::diff
