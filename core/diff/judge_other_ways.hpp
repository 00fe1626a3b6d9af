// SPDX-License-Identifier: Apache-2.0
#pragma once
// The other way to compare those pairs of a step that have one.

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/compare/compare.hpp"
#include "core/diff/options.hpp"
#include "core/diff/work.hpp"

namespace ttcheck::diff {

/// The numbers of pairs in which another way took the place of the first.
struct Otherwise {
  std::int64_t sums = 0;   ///< the sum of what ranks hold, of copies
  std::int64_t parts = 0;  ///< ranges of fused parts, of one range of the whole
};

/// Compares pairs that are not equal in the other ways that some have; the closest counts. Of a
/// tensor of one layer whose like in another layer is there as copies, ranks hold no addends.
Otherwise compare_otherwise(Work& work, std::vector<compare::Compared>& compared,
                            const DiffOptions& how);

/// What stands between the stored values and those compared; empty for nothing.
std::string_view seen_by(const compare::Pair& pair);

}  // namespace ttcheck::diff
