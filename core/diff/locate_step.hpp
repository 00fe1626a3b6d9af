// SPDX-License-Identifier: Apache-2.0
#pragma once
// The results of one step -> first divergence, findings.

#include <span>
#include <vector>

#include "core/diff/met.hpp"
#include "core/recompute/recomputed.hpp"

namespace ttcheck::diff {

/// `results` are this step's, in the order in which a difference comes about. `recomputed`, one for
/// each: what is known of its op.
void locate_step(const MetStep& met, std::span<const TensorResult> results,
                 std::vector<recompute::Recomputed> recomputed, DiffContext& context,
                 Verdict& verdict);

}  // namespace ttcheck::diff
