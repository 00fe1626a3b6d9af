// SPDX-License-Identifier: Apache-2.0
#pragma once
// Collectives that the candidate dumped, their outputs held to their own inputs (TT105).

#include <span>
#include <vector>

#include "core/diff/met.hpp"
#include "core/recompute/recomputed.hpp"

namespace ttcheck::diff {

/// What they tell of the results of a step in which something diverged: of a collective's own
/// record or, where the reference has none, of what its module made of it. Work is bounded. The
/// findings are of wrong ones whose values went into no result that diverged.
std::vector<Finding> judge_collectives(const MetStep& met, std::span<const TensorResult> results,
                                       const DiffContext& context,
                                       std::span<recompute::Recomputed> found);

/// What a finding's message says of a wrong one; begins with a semicolon.
std::string collective_words(const recompute::Recomputed& wrong, const Shape& shape,
                             const Mesh& mesh);

/// TT105 in place of "copies differ" where the copies are of a wrong collective's output.
void blame_collectives(std::span<const TensorResult> results,
                       std::span<const recompute::Recomputed> found, const DiffContext& context,
                       Verdict& verdict);

}  // namespace ttcheck::diff
