// SPDX-License-Identifier: Apache-2.0
#pragma once
// A checkpoint whose layers are all the same: one layer was written, or loaded, in place of each.

#include <optional>
#include <span>
#include <vector>

#include "core/compare/compare.hpp"
#include "core/model/finding.hpp"

namespace ttcheck::diff {

/// TT510 for each side where every matrix that layers repeat has, to the last bit, the norm that it
/// has in the first of them. `compared` is what the first pass found of `pairs`.
std::vector<Finding> same_layers(std::span<const compare::Pair> pairs,
                                 std::span<const compare::Compared> compared,
                                 std::optional<std::int64_t> step);

}  // namespace ttcheck::diff
