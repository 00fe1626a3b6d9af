// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arrays of several ranks of which nothing says how they make the tensor: dumps without a dims
// line. What the other side holds whole tells it: arrays as large as that are copies (or addends,
// which values alone can tell), smaller ones are cut along the dimension in which they are smaller.

#include <cstdint>
#include <span>

#include "core/model/mesh.hpp"
#include "core/model/record.hpp"

namespace ttcheck::assemble {

/// Places undeclared records that the same ranks hold in the same shapes on both sides so that each
/// rank's is compared with its own: one behind the other along the first dimension, or where they
/// differ in others under names that have the rank. Where most tensors that both have are placed
/// so, ops that are named by a counter are too, whatever the other side holds under that name.
/// Returns how many of the tensors that both have are placed so.
std::int64_t place_by_rank(std::span<Record> a, std::span<Record> b);

/// Places undeclared records of several ranks that differ from the one record which `others` have
/// of the tensor in one dimension alone: one behind the other in rank order where all ranks'
/// extents add up to it, else by the coordinate along the only axis of `mesh` that is as often as
/// large as the array is smaller. The number of tensors placed.
std::int64_t place_by_shape(std::span<Record> records, std::span<const Record> others,
                            const Mesh& mesh);

/// Takes out of the comparison what undeclared records without bytes hold of which ranks recorded
/// different hashes, and no statistics that parts and addends could be told by: `rep=any`. Hashes
/// alone tell no copy from an addend. So too where ops are named by a counter and not all ranks
/// have one. The number of tensors.
std::int64_t leave_out_unlike(std::span<Record> records);

}  // namespace ttcheck::assemble
