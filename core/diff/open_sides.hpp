// SPDX-License-Identifier: Apache-2.0
#pragma once
// One step of both runs, opened: read, placed where files do not say how, put together.

#include <array>
#include <memory>

#include "core/diff/context.hpp"
#include "core/diff/open_step.hpp"
#include "core/model/step.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::diff {

/// Null when a side of the step cannot be read, which `verdict` then says, or, of a run's only
/// step, an Error. What is known of the sides is added to `verdict`.
std::shared_ptr<std::array<OpenedStep, 2>> open_sides(const StepPair& steps, DiffContext& context,
                                                      Verdict& verdict);

}  // namespace ttcheck::diff
