// SPDX-License-Identifier: Apache-2.0
#pragma once
// The records of one tensor, each in its place: by the boxes that they state, by a line of dims, or
// each of them the whole.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/assemble/plan.hpp"
#include "core/model/box.hpp"
#include "core/model/piece.hpp"
#include "core/model/record.hpp"

namespace ttcheck::assemble {

/// One rank's array in its place.
struct PlacedPart {
  const Record* record = nullptr;
  std::vector<Cell> cells;  ///< logical coordinates; empty: it holds nothing
  Extents key;              ///< equal for replicas
  Extents term;             ///< coordinates along the axes that are reduced over
};

struct PlacedRecords {
  Shape shape;               ///< logical
  std::optional<Plan> plan;  ///< of those that dims place
  std::vector<PlacedPart> parts;
};

/// Places records of one way of placing, lowest rank first. `refuse` is told which one does not fit
/// where it should lie, and why: it is left out. REQUIRES a record; they outlive the result. Throws
/// Error when dims cannot be meant for these shapes.
PlacedRecords place_records(
    std::span<Record* const> records, const AssembleContext& context,
    const std::function<void(const Record& record, std::string message)>& refuse);

/// "rank 3", or what stands for it where records have no ranks: `record` is the first of them.
std::string holder_of(const Record& record);

}  // namespace ttcheck::assemble
