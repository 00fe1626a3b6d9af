// SPDX-License-Identifier: Apache-2.0
#pragma once
// One step of both runs, up to the pairs whose bytes are to be compared: open, place, align.

#include <optional>

#include "core/diff/met.hpp"

namespace ttcheck::diff {

/// Nothing when a side of the step cannot be read. Facts, names that do not meet, shapes that do
/// not fit and counts go to `verdict`. Throws Error where a run's only step cannot be read.
std::optional<MetStep> meet_step(const StepPair& steps, DiffContext& context, Verdict& verdict);

}  // namespace ttcheck::diff
