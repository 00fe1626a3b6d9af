// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long a dimension is: stated, or found from what the ranks hold.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/assemble/dim_plan.hpp"

namespace ttcheck::assemble {

/// Local lengths of one dimension, by the coordinates along its own shards (outermost first).
using Lengths = std::map<Extents, std::int64_t>;

/// What a line and a format say of one dimension.
struct Stated {
  std::optional<std::int64_t> length;  ///< logical: `pad=`, or the stated shape
  std::optional<std::int64_t> align;
  std::vector<std::optional<std::int64_t>> parts;  ///< sizes, where given
  bool others_hold_none = false;  ///< coordinates of no length are of nothing, rather than unknown
};

/// Fills `length`, `stored`, `least`, `parts` and `joined` of a dimension whose `shards` are set.
/// Where ranks are missing, the length is the longest that what is there allows. Throws Error when
/// nothing fits.
void settle_length(DimPlan& dim, const std::vector<AxisUse>& axes, const Lengths& lengths,
                   const Stated& stated);

}  // namespace ttcheck::assemble
