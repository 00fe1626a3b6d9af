// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ops whose output diverged, recomputed from their own dumped inputs (core/recompute).

#include <span>
#include <string>
#include <vector>

#include "core/diff/met.hpp"
#include "core/recompute/recompute.hpp"
#include "core/recompute/recomputed.hpp"

namespace ttcheck::diff {

/// What comes of recomputing a result's op; of one whose bytes were not compared, the reason at
/// most.
recompute::Recomputed recompute_result(const MetStep& met, const TensorResult& result,
                                       recompute::Recompute& recompute);

/// Fills `found`, one for each result; of one that is not diverged, or that only a rank's copy is,
/// nothing is known, and what is known already stays. Those in which an error may have come
/// about are recomputed first, since work is bounded. REQUIRES the graphs of the step.
void recompute_step(const MetStep& met, std::span<const TensorResult> results,
                    std::span<recompute::Recomputed> found);

/// What a finding's message says of it; begins with a semicolon, or is empty.
std::string recomputed_words(const recompute::Recomputed& recomputed, const Shape& shape,
                             const Mesh& mesh);

/// What a finding's message says of one that could not be recomputed: attributes that its op states
/// otherwise than the reference's, and why it could not; begins with a semicolon, or is empty.
std::string unknown_words(const recompute::Recomputed& recomputed);

/// TT604, of one turned bit TT701, of a collective TT105, of a logged norm TT204, in place of a
/// code that only says that or where the values differ.
void blame_op(const recompute::Recomputed& recomputed, const Mesh& candidate_mesh,
              Finding& finding);

}  // namespace ttcheck::diff
