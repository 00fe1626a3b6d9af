// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which step a checkpoint that was named alone says it is of, and what that means for the other
// side.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/model/finding.hpp"
#include "core/model/run.hpp"

namespace ttcheck::diff {

/// What the only state of `single` says of its step, as far as it may say something in `series`;
/// the best evidence first. Reads metadata; what cannot be opened says nothing.
std::vector<StatedStep> steps_said(const Run& single, const Run& series);

/// A step of a series, and what says that a state is of it.
struct StepMet {
  std::size_t index = 0;  ///< into the steps of the series
  StatedStep stated;
};

/// The step of `series`, among those at `among`, that the best of `said` names, of those that name
/// one of them.
std::optional<StepMet> step_met(std::span<const StatedStep> said, const Run& series,
                                std::span<const std::size_t> among);

/// A warning where two states that meet say of themselves, in one way, that they are of other
/// steps.
std::optional<Finding> of_other_steps(std::span<const StatedStep> reference,
                                      std::span<const StatedStep> candidate);

}  // namespace ttcheck::diff
