// SPDX-License-Identifier: Apache-2.0
#pragma once
// The pairs of one step: compared, held to their limits, judged.

#include <span>
#include <vector>

#include "core/compare/compare.hpp"
#include "core/diff/context.hpp"
#include "core/diff/work.hpp"
#include "core/model/step.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::diff {

/// Covers every pair and adds a result for each that is not equal; for equal ones, too, in traces
/// and where all are asked for. What could not be read, whole or in time, becomes a finding.
/// Memory: one `Compared` a pair, and results of a few thousand pairs at a time. `beside`: pairs of
/// the step of which nothing is said (core/diff/meet_filters).
void judge_all(Work& work, bool trace, const StepPair& steps, DiffContext& context,
               Verdict& verdict, const Work& beside = {});

/// Judges what compare_all found of the pairs.
void judge_compared(Work& work, std::vector<compare::Compared> compared, bool trace,
                    const StepPair& steps, DiffContext& context, Verdict& verdict,
                    const Work& beside = {});

}  // namespace ttcheck::diff
