// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parameter groups of an optimizer that is not partitioned (ZeRO 0), as its dict holds them.

#include <string>
#include <vector>

#include "formats/objects/known.hpp"
#include "formats/torch/budget.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {

/// A parameter group of the optimizer: for each number its state, and its master.
struct OptimizerGroup {
  bool experts = false;
  std::vector<std::string> ids;
  std::vector<Value> states, masters;
  Value flat;  ///< all masters of the group in one row (FP16_Optimizer)
};

/// Throws Error when there are too many of them.
std::vector<OptimizerGroup> optimizer_groups(Value optimizer, WalkBudget& budget);

/// The shapes that the numbers of each group show: of the master, else of the state; kAnyShape
/// where they show none.
std::vector<std::vector<Shape>> shapes_of_groups(const TorchFile& file,
                                                 const std::vector<OptimizerGroup>& groups);

}  // namespace ttcheck::formats
