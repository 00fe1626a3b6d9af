// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who ran a module: a router may leave an expert without tokens on a rank or in a micro-batch.

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/model/record.hpp"

namespace ttcheck::assemble {

/// The ranks and micro-batches in which each module ran, as what its forward and backward passes
/// left behind shows.
class Calls {
 public:
  /// Of a step of which no rank is missing.
  explicit Calls(const std::vector<Record>& records);

  /// Whether `records`, of one tensor of a pass, are those of everyone who ran its module: others
  /// then held nothing of the tensor and added nothing to it, rather than that their part of it is
  /// lost.
  bool are_all(const std::vector<const Record*>& records) const;

 private:
  using Call = std::pair<std::int32_t, std::int64_t>;  ///< rank, micro-batch

  static Call call_of(const Record& record);

  std::unordered_map<std::string, std::set<Call>> of_module_;
};

}  // namespace ttcheck::assemble
