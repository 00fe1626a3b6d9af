#pragma once
// Which step of one run meets which of the other.

#include <cstddef>
#include <optional>
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

/// Throws Error where a range names no step of any side that has step numbers, and one has.
void require_steps(const Run& reference, const Run& candidate,
                   const std::optional<StepRange>& range);

/// How many updates the runs have made at the end of a step, at most: by its number, from the first
/// one's (0 or 1) on, where steps in between were not recorded.
double updates_made(const Run& reference, const StepPair& steps);

/// Indices of the run's steps in the range; of all without one.
std::vector<std::size_t> steps_in_range(const Run& run, const std::optional<StepRange>& range);

}  // namespace ttcheck::diff
