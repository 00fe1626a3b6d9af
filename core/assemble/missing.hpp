// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ranks that hold nothing or cannot be read: said once a step, with the holes that they explain.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/model/finding.hpp"
#include "core/model/run.hpp"

namespace ttcheck::assemble {

class MissingRanks {
 public:
  /// The ranks that the reader did not find or could not read, and, where arrays lie on a mesh by
  /// dims, those of the mesh that no record names.
  MissingRanks(const State& state, const Mesh& mesh);

  std::span<const std::int32_t> ranks() const { return ranks_; }  ///< ascending

  /// A tensor has holes because these ranks are missing.
  void count(std::span<const std::int32_t> ranks);

  /// One finding a rank: TT501 with the reader's error if there is one, else TT508.
  void report(std::vector<Finding>& findings) const;

 private:
  std::vector<std::int32_t> ranks_;
  std::map<std::int32_t, Error> unreadable_;
  std::map<std::int32_t, std::int64_t> holes_;  ///< tensors with holes, by rank
  std::int64_t world_ = 0;
  std::optional<std::int64_t> step_;
};

}  // namespace ttcheck::assemble
