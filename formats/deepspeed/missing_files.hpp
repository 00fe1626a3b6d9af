// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that the ranks of a tag write and that are not there. Partitioned optimizers have one for
// each rank, models one for each MM, or under ZeRO 3 for each rank; experts of each layer are
// numbered from 0 (`num_experts`), and optimizers of experts that are not partitioned have one for
// each expert-parallel rank (deepspeed/runtime/engine.py `_save_moe_checkpoint`). Layers of a
// pipeline without parameters have none.

#include "formats/deepspeed/tag.hpp"

namespace ttcheck::formats {

/// Adds TT508 with the file's name to the tag's findings; ranks whose partitions are missing are
/// listed in `missing_ranks`.
void find_missing(DeepspeedTag& tag);

}  // namespace ttcheck::formats
