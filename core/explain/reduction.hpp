// SPDX-License-Identifier: Apache-2.0
#pragma once
// What several ranks hold, reduced, against what all of them should have.

#include <optional>
#include <string_view>

#include "core/explain/subject.hpp"

namespace ttcheck::explain {

/// TT102 over `axis`: the sum or the mean of the candidate's terms, whichever leaves less of the
/// reference. Where that is more than `allowed`, the sum less one vector along the last dimension
/// is tried: ranks that add a bias to their parts before these are added up have it once too often
/// each. Nothing where values cannot be read or are not finite on one side alone.
std::optional<Explanation> best_reduction(const compare::Pair& terms, std::string_view axis,
                                          double allowed);

}  // namespace ttcheck::explain
