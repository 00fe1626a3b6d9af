// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a run is: its format, mesh, steps and tensors, and what of it could not be read.

#include <optional>

#include "core/model/run.hpp"
#include "core/model/step.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::show {

/// Lists the newest step, which of a series stands for all, or those in `steps`, or with `all` each
/// of them; tensors are bare rows. REQUIRES that the run has a step in `steps`. Throws Error where
/// the only step cannot be opened; others are findings.
Verdict inventory(const Run& run, const std::optional<StepRange>& steps, bool all);

}  // namespace ttcheck::show
