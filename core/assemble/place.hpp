// SPDX-License-Identifier: Apache-2.0
#pragma once
// One rank's array under a plan: the boxes of the logical tensor that its elements fill.

#include <vector>

#include "core/assemble/plan.hpp"
#include "core/model/piece.hpp"

namespace ttcheck::assemble {

/// Cells in logical coordinates, composed with the record's own view; none when the rank holds
/// nothing of the tensor (an empty shard, or padding alone). Throws Error when the array's shape
/// does not match the plan.
std::vector<Cell> cells_of(const Member& member, const Plan& plan);

/// The cells of an array that lies at `lo` of the logical tensor.
std::vector<Cell> cells_at(const Record& record, const Extents& lo);

/// The cells of a row of elements (`record.flat`) whose block lies at `lo`. Throws Error when the
/// row does not lie within the block.
std::vector<Cell> cells_of_range(const Record& record, const Extents& lo);

/// The boxes that a rank at these coordinates holds, whatever is stored there.
std::vector<Box> boxes_at(const Extents& at, const Plan& plan);

}  // namespace ttcheck::assemble
