// SPDX-License-Identifier: Apache-2.0
#pragma once
// One step of both runs: meet, judge, excuse, condemn, locate.

#include "core/diff/context.hpp"
#include "core/model/step.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::diff {

/// Adds the step's results, findings and counts to `verdict`. `last`: nothing of it is needed
/// behind it.
void diff_step(const StepPair& steps, bool last, DiffContext& context, Verdict& verdict);

}  // namespace ttcheck::diff
