// SPDX-License-Identifier: Apache-2.0
#pragma once
// Equal layers folded: results whose names differ only in numbers become one row.

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/verdict.hpp"

namespace ttcheck::reports {

/// Results of one outcome, kind, dtype and phase whose names are alike but for their numbers.
struct Group {
  const TensorResult* worst = nullptr;       ///< largest ratio; the first on a tie
  std::vector<const TensorResult*> results;  ///< in the order given
};

/// The groups in order of first appearance. The results must outlive the groups.
std::vector<Group> fold(const std::vector<const TensorResult*>& results);

/// "layers.{0-3,7}.mlp.weight", escaped; of a long list of numbers the start.
std::string name_of(const Group& group);

/// "f32", or "f32/bf16" where the candidate's is another one.
std::string dtypes_of(const TensorResult& result);

std::vector<std::int64_t> steps_of(const Group& group);        ///< ascending
std::vector<std::int32_t> wrong_ranks_of(const Group& group);  ///< ascending

}  // namespace ttcheck::reports
