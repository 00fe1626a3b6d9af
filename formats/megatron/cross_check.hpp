// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the files of a Megatron checkpoint say of each other: ranks that swapped places, steps that
// are mixed, sizes that the tensors contradict.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/model/finding.hpp"
#include "core/model/record.hpp"
#include "formats/megatron/rank.hpp"

namespace ttcheck::formats {

/// A rank's files, and where they lie.
struct SavedRank {
  std::string directory;
  std::int32_t rank = 0;  ///< that the directory is of
  const MegatronRank* files = nullptr;
  Where where;
};

/// Gives TT507 for ranks of another iteration than the rest (than `step`, if the checkpoint's name
/// states one); TT301 for ranks in each other's places, as their own arguments show; TT309 for
/// those whose arguments state another model or other groups than `args`.
void check_saved(const MegatronArgs& args, const std::vector<SavedRank>& ranks,
                 std::optional<std::int64_t> step, std::vector<Finding>& findings);

/// Counts the experts of each rank: what the arguments say, held against the files. TT307 where
/// these hold others; where they agree with each other they count.
std::int64_t experts_by_rank(const MegatronArgs& args, const std::vector<SavedRank>& ranks,
                             std::vector<Finding>& findings);

/// TT307 where a rank's array has another shape than the arguments and its placement say; once for
/// each tensor of a layer.
class ShapeCheck {
 public:
  explicit ShapeCheck(const MegatronArgs& args) : args_(args) {}

  /// Checks a record. REQUIRES record.placement.
  void check(const Record& record, std::vector<Finding>& findings);
  /// Checks a tensor that is stored as a whole.
  void check_whole(const std::string& name, const Shape& shape, const Where& where,
                   std::vector<Finding>& findings);

 private:
  bool first_of_family(std::string name);

  const MegatronArgs& args_;
  std::set<std::string> said_;
};

}  // namespace ttcheck::formats
