// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which values of a torch file are optimizers.

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/objects/known.hpp"
#include "formats/torch/optimizer.hpp"
#include "formats/torch/walk.hpp"

namespace ttcheck::formats {

/// Each value is looked at once, however many keys lead to it; `budget` outlives it.
class OptimizerSearch {
 public:
  explicit OptimizerSearch(WalkBudget& budget) : budget_(budget) {}

  bool is_one(Value value);

  /// Also true of a list or a dict of nothing else.
  bool are_all_of(Value value);

  /// Those among a root's values: alone, in lists (Lightning's `optimizer_states`), or in dicts,
  /// one for each of several models.
  std::vector<Optimizer> among(const std::vector<KeyValue>& pairs);

 private:
  WalkBudget& budget_;
  std::unordered_map<NodeId, bool> single_, several_;
};

}  // namespace ttcheck::formats
