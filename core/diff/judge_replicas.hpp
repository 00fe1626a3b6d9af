// SPDX-License-Identifier: Apache-2.0
#pragma once
// Copies of one tensor on several ranks that are not the same.

#include "core/compare/compare.hpp"
#include "core/diff/context.hpp"
#include "core/model/step.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::diff {

/// Replicas that differ: an error where they must agree bitwise; elsewhere only when a rank's own
/// error is beyond the limit, else a note. Strict ones make the result diverge on those ranks.
void judge_replicas(const compare::Pair& pair, const compare::Compared& compared,
                    const StepPair& steps, const DiffContext& context, TensorResult& result,
                    Verdict& verdict);

}  // namespace ttcheck::diff
