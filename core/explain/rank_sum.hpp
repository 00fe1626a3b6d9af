// SPDX-License-Identifier: Apache-2.0
#pragma once
// Partial sums where nothing states how ranks hold a tensor and both sides were compared rank by
// rank (`Tensor::by_rank`): ranks that hold the same in the reference were to add up what the
// candidate's hold.

#include <optional>

#include "core/explain/subject.hpp"

namespace ttcheck::explain {

/// TT102 over `rank`: the sum or the mean of the candidate's values on the ranks which in the
/// reference hold what the lowest does. Nothing where those hold the same in the candidate, too.
std::optional<Explanation> rank_sum(const Subject& subject);

}  // namespace ttcheck::explain
