// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ranks of a Megatron run: tensor parallel fastest, then context, data and pipeline parallel;
// experts count the same ranks in an order of their own (RankGenerator in
// megatron/core/parallel_state.py).

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "core/model/mesh.hpp"
#include "formats/megatron/args.hpp"

namespace ttcheck::formats {

struct MegatronMesh {
  Mesh mesh;
  /// The lowest rank at each (tp, pp, ep).
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int32_t> places;
  /// Ranks that save what the ranks beside them hold, too (get_checkpoint_name and save_checkpoint
  /// in megatron/training/checkpointing.py): the first along (expert) data parallel, and the first
  /// of each (tp, pp) that has none of these. Ascending.
  std::vector<std::int32_t> writers;
};

/// Throws Error when the experts' ranks are too many to be listed.
MegatronMesh megatron_mesh(const MegatronArgs& args);

}  // namespace ttcheck::formats
