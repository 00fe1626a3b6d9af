// SPDX-License-Identifier: Apache-2.0
#pragma once
// The place of a tensor-parallel rank's part of a parameter. `universal_checkpoint_info` says so;
// where files have none, the rule is that of DeepSpeed's own merge (deepspeed/checkpoint/
// deepspeed_checkpoint.py `LAYER_CONCAT_DIM`, `SEQUENTIAL_LAYERS`): along the first dimension,
// along the second for the two row-parallel projections, and norms, their biases and positions are
// replicas.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/model/record.hpp"
#include "formats/deepspeed/merge_rules.hpp"

namespace ttcheck::formats {

/// The tensor-parallel rank `rank` of `count`, and the rules of its model.
struct DeepspeedPlace {
  const std::optional<DeepspeedRules>& rules;
  std::int64_t rank = 0;
  std::int64_t count = 1;
};

/// The blocks that a part of that shape holds, one behind the other; rows that pad the vocabulary
/// are in none. Throws Error on overflow.
std::vector<DeepspeedBlock> blocks_of(std::string_view name, const Shape& shape,
                                      const DeepspeedPlace& place);

/// The record of a part as records of its blocks. Throws Error for an array that is not row-major
/// and holds several, or padding.
std::vector<Record> placed(Record part, const DeepspeedPlace& place);

/// The record of elements [begin, begin + record.shape[0]) of a part of that shape, as records of
/// those of its blocks.
std::vector<Record> placed(Record row, std::int64_t begin, const Shape& shape,
                           const DeepspeedPlace& place);

}  // namespace ttcheck::formats
