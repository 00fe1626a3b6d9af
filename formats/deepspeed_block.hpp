#pragma once
// Where a tensor-parallel rank's part of a parameter lies. Files state no placements; the rule is
// that of DeepSpeed's own merge (deepspeed/checkpoint/deepspeed_checkpoint.py `LAYER_CONCAT_DIM`,
// `SEQUENTIAL_LAYERS`): along the first dimension, along the second for the two row-parallel
// projections, and norms, their biases and positions are replicas.

#include <cstdint>
#include <string_view>

#include "core/model/record.hpp"

namespace ttcheck::formats {

struct DeepspeedBlock {
  Shape logical;
  Extents lo;
};

/// The block of a part of that shape, of tensor rank `rank` of `count`. Throws Error on overflow.
DeepspeedBlock block_of(std::string_view name, const Shape& shape, std::int64_t rank,
                        std::int64_t count);

/// Gives the record its place: all of the tensor where `count` is 1.
void place(Record& record, std::int64_t rank, std::int64_t count);

}  // namespace ttcheck::formats
