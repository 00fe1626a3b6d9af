// SPDX-License-Identifier: Apache-2.0
#pragma once
// A DTensor's placements as a line of the dims grammar. A tensor dimension that several mesh axes
// cut is cut in mesh order, unless `shard_order` (torch 2.10 on) or _StridedShard says otherwise:
// its split factor is the product of the sizes of later axes that cut before it, which is how FSDP2
// writes that it cut what tensor parallelism had cut (DTensorSpec._maybe_convert_StridedShard_to_
// shard_order in torch/distributed/tensor/_dtensor_spec.py). A factor that no order explains stays
// a stride.

#include <memory>
#include <vector>

#include "core/model/mesh.hpp"
#include "core/model/placement.hpp"
#include "formats/bytes/pickle.hpp"

namespace ttcheck::formats {

/// Reads `spec`, a DTensorSpec over a mesh of `axes`. Gives none when all ranks hold the whole.
/// Throws Error that names the place of a placement that is not understood.
std::shared_ptr<const Placement> placement_of_spec(Value spec, const std::vector<Axis>& axes,
                                                   std::size_t dimensions);

}  // namespace ttcheck::formats
