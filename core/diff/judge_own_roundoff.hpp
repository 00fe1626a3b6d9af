// SPDX-License-Identifier: Apache-2.0
#pragma once
// Records of 16 bits that are within the limit of a whole network, and further off than what was
// computed since the last record that agrees can explain (core/limits/own_roundoff):
//
// * the first output of the forward pass whose values lean to one side, by more than what went
//   before it leans and two rounded factors explain: errors of rounding have no side. It is wrong,
//   whatever else differs;
// * where something of the step diverged, the first output of the forward pass that differs at
//   all, if it is off by more than the ops between make of equal inputs: there the runs parted.
//
// What went in is known where every record before it was compared, and the parameters are the same
// but for a rounding; where not, or where no parameters were recorded, nothing is said. Which of
// them no recorded call used tells how many ops may lie between.

#include <span>

#include "core/diff/met.hpp"

namespace ttcheck::diff {

/// Turns noise into diverged. `results` are of one step, in causal order, what is not reported
/// among them.
void judge_own_roundoff(const MetStep& met, std::span<TensorResult> results,
                        const DiffContext& context);

}  // namespace ttcheck::diff
