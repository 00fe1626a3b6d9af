// SPDX-License-Identifier: Apache-2.0
#pragma once
// DTensor and ShardedTensor as ranks pickle them, by hand.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/support/pickle_writer.hpp"

namespace ttcheck::tests::pickled {

/// NEWOBJ without arguments, then BUILD.
inline std::string object(std::string_view module, std::string_view name,
                          const std::string& state) {
  return global(module, name) + ")\x81" + state + "b";
}

inline const std::string kNone = "N";
inline const std::string kPlacements = "torch.distributed.tensor.placement_types";

inline std::string shard(std::int64_t dim) {
  return object(kPlacements, "Shard", dict({{"dim", integer(dim)}}));
}
inline std::string strided(std::int64_t dim, std::int64_t factor) {
  return object(kPlacements, "_StridedShard",
                dict({{"dim", integer(dim)}, {"split_factor", integer(factor)}}));
}
inline std::string replicate() { return object(kPlacements, "Replicate", dict({})); }
inline std::string partial(std::string_view how) {
  return object(kPlacements, "Partial", dict({{"reduce_op", text(how)}}));
}

/// A mesh as torch 2.13 keeps it: a layout of axes over the ranks 0..count-1.
inline std::string mesh(std::initializer_list<std::pair<std::int64_t, std::int64_t>> axes,
                        const std::string& names, std::int64_t count,
                        const std::string& rank = kNone) {
  std::string layouts = "(";
  for (const auto& [size, stride] : axes) {
    layouts += object("torch.distributed._mesh_layout", "_FlatLayout",
                      dict({{"shape", numbers({size})}, {"stride", numbers({stride})}}));
  }
  std::string ranks = "(";
  for (std::int64_t i = 0; i < count; ++i) ranks += integer(i);
  const std::string layout =
      object("torch.distributed._mesh_layout", "_MeshLayout", dict({{"axes", layouts + "t"}}));
  return object("torch.distributed.device_mesh", "DeviceMesh",
                dict({{"_layout", layout},
                      {"_mesh_dim_names", names},
                      {"_flatten_rank_map", ranks + "t"},
                      {"_rank", rank}}));
}

inline std::string wrapped(std::string_view type, const std::string& size,
                           const std::string& state) {
  return call(
      "torch._tensor", "_rebuild_from_type_v2",
      {global("torch._utils", "_rebuild_wrapper_subclass"),
       global("torch.distributed.tensor", type),
       tuple({global("torch.distributed.tensor", type), global("torch", "float32"), size}), state});
}

inline std::string dtensor(const std::string& size, const std::string& mesh,
                           const std::string& placements, const std::string& local,
                           const std::string& shard_order = kNone) {
  const std::string spec =
      object("torch.distributed.tensor._dtensor_spec", "DTensorSpec",
             dict({{"mesh", mesh}, {"placements", placements}, {"shard_order", shard_order}}));
  return wrapped("DTensor", size,
                 tuple({kNone, dict({{"_local_tensor", local}, {"_spec", spec}})}));
}

/// One local shard at `offsets`, of a process `rank` of `world`.
inline std::string sharded(const std::string& size, const std::string& offsets,
                           const std::string& sizes, const std::string& local, std::int64_t rank,
                           std::int64_t world) {
  const std::string metadata =
      object("torch.distributed._shard.metadata", "ShardMetadata",
             tuple({kNone, dict({{"shard_offsets", offsets}, {"shard_sizes", sizes}})}));
  const std::string part =
      object("torch.distributed._shard.sharded_tensor.shard", "Shard",
             tuple({kNone, dict({{"tensor", local}, {"metadata", metadata}})}));
  const std::string group =
      object("torch.distributed._shard.sharded_tensor.api", "ProcessGroupState",
             dict({{"global_rank", integer(rank)}, {"global_world_size", integer(world)}}));
  return wrapped("ShardedTensor", size, tuple({list({part}), kNone, group, kNone, kNone}));
}

}  // namespace ttcheck::tests::pickled
