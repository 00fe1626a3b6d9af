// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is wrong by itself, though within its limit. Limits hold what the whole network before a
// record may have made of round-off; three things are held to more:
//
// * an op whose output is not what its own dumped inputs and weights give, by clearly more than
//   the reference's is (core/recompute says how much that is);
// * a parameter that an update left as it was, to the bit, while the reference's moved in half of
//   its elements or more (core/locate/stale), unless its gradient is zero;
// * a logged norm that is not the norm of the step's gradients (core/locate/gradient_norm).
//
// What records before it tell of a record is core/diff/judge_own_roundoff.
//
// Under measured limits an op must also be further off than any correct run was: those may compute
// in something coarser than they dump.

#include <span>
#include <vector>

#include "core/diff/met.hpp"
#include "core/recompute/recomputed.hpp"

namespace ttcheck::diff {

/// Turns noise into diverged; of traces, where ops are recomputed. `results` are of one step, and
/// the answer has one for each: what was told of those that it turned, and of a logged norm. Work
/// is bounded by what the step holds: those nearest to their limits come first.
std::vector<recompute::Recomputed> condemn_within_limits(const MetStep& met,
                                                         std::span<TensorResult> results,
                                                         const DiffContext& context);

}  // namespace ttcheck::diff
