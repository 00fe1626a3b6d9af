// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which step of one run meets which of the other.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/model/run.hpp"
#include "core/model/step.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::diff {

/// Steps that both have, in order, in the range. A side without numbers meets the step of the other
/// that it says it is of, else the newest complete one, or the newest if none is; those passed over
/// are warnings. Steps of one side only
/// go to `coverage` and, as warnings, to `findings`.
std::vector<StepPair> pair_steps(const Run& reference, const Run& candidate,
                                 const std::optional<StepRange>& range, Verdict& verdict);

/// A run, and what it is called.
struct NamedRun {
  const Run& run;
  std::string_view name;
};

/// Throws Error where a range names no step of these runs: of their step numbers, or, where none
/// has any, of the steps that they say they are of.
void require_steps(std::span<const NamedRun> runs, const std::optional<StepRange>& range);

/// How many updates the runs have made at the end of a step, at most: by its number, from the first
/// one's (0 or 1) on, where steps in between were not recorded.
double updates_made(const Run& reference, const StepPair& steps);

/// Indices of the run's steps in the range; of all without one. A run without step numbers takes
/// part whatever the range is: it is narrowed by the other side.
std::vector<std::size_t> steps_in_range(const Run& run, const std::optional<StepRange>& range);

}  // namespace ttcheck::diff
