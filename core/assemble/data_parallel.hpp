// SPDX-License-Identifier: Apache-2.0
#pragma once
// Traces of data-parallel ranks whose writer states no dims, as of hooks on each rank.

#include <cstdint>
#include <span>
#include <string>

#include "core/model/mesh.hpp"
#include "core/model/record.hpp"

namespace ttcheck::assemble {

/// What was stated, and of how many tensors.
struct DataParallel {
  std::string cut;   ///< the dims line of what is of the batch
  std::string mean;  ///< that of losses and of gradients of all else
  std::int64_t tensors = 0;
};

/// States, where nothing of a trace's passes does, what data parallelism comes to: what is of the
/// batch is cut along its first dimension, and losses and gradients of all else are means over the
/// ranks. The evidence is `others`, of one rank, which recorded whole what ranks hold pieces of:
/// all that is of another shape there is made up by the ranks' arrays, one behind the other.
/// Nothing (no tensors) where something is otherwise, and where the mesh has another axis than one
/// of data parallelism. That is a statement like a writer's own, the same for all tensors and
/// whatever their values: those decide afterwards whether the pair is the same.
DataParallel state_data_parallel(std::span<Record> records, std::span<const Record> others,
                                 const Mesh& mesh);

}  // namespace ttcheck::assemble
