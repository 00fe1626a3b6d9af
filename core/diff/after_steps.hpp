// SPDX-License-Identifier: Apache-2.0
#pragma once
// Steps that --step chose start from what those before them left apart.

#include <functional>

#include "core/diff/context.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::diff {

/// Judges the chosen steps of `context`'s runs, as no step was compared yet. Of two traces with
/// steps in front of them, what those left is known: their parameters, and, where the verdict is
/// `diverged`, or something in it was excused by what they may have left, all of it; then `judge`
/// is asked again. It gets the context to judge with.
Verdict judge_after_steps(const DiffContext& context,
                          const std::function<Verdict(DiffContext)>& judge);

}  // namespace ttcheck::diff
