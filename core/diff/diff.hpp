// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two runs, steps, checkpoints or files, compared.

#include <span>

#include "core/diff/context.hpp"
#include "core/model/step.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::diff {

/// Compares these steps, in order, until a signal comes.
void diff_steps(std::span<const StepPair> pairs, DiffContext& context, Verdict& verdict);

/// What all the steps come to: counts, bytes read, outcome, reason.
void conclude_runs(DiffContext& context, Verdict& verdict);

/// All steps that both have, within `how.steps`, and the states of one name that lie beside them.
/// Either run may be compared again, but for `how.ends`. Throws Error.
Verdict diff(const Run& reference, const Run& candidate, const DiffOptions& how);

}  // namespace ttcheck::diff
