#pragma once
// Equal layers folded: results whose names differ only in numbers become one row.

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/verdict.hpp"

namespace ttcheck::reports {

/// Results of one outcome, kind, dtype and phase whose names are alike but for their numbers.
struct Group {
  std::string name;                          ///< "layers.{0-3,7}.mlp.weight", escaped
  const TensorResult* worst = nullptr;       ///< largest ratio; the first on a tie
  std::vector<const TensorResult*> results;  ///< in the order given
  std::vector<std::int64_t> steps;           ///< ascending
  std::vector<std::int32_t> ranks;           ///< wrong ones, ascending
};

/// In order of first appearance. The results must outlive the groups.
std::vector<Group> fold(const std::vector<const TensorResult*>& results);

}  // namespace ttcheck::reports
