// SPDX-License-Identifier: Apache-2.0
// Such a tensor is a call of `_rebuild_from_type_v2` with a function, the class, arguments and a
// state, maybe inside of Parameters. The arguments give the shape of the whole, the state gives
// the rank's part. A DTensor's has a local tensor and a `_spec` of mesh and placements, which
// tell where the part lies only once the rank is known: the caller's counts, else the one that
// the mesh says. A ShardedTensor's has shards with boxes of their own, and says the rank and the
// world. Tensors of a file mostly share one mesh, so each mesh is read once, by its node, and one
// that cannot be read is not tried again. Its root tells of the whole run; no tensor depends on
// it, so its faults are passed over. Dimensions, shards and wrappers are bounded, as are the
// ranks that all meshes of a file list together. What is not understood is an Error for that
// tensor alone.

#include "formats/torch/distributed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "formats/torch/attribute.hpp"
#include "formats/torch/file.hpp"
#include "formats/torch/placements.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMostDims = 64;
constexpr std::size_t kMostShards = 64;
constexpr int kMostWrappers = 8;

constexpr std::string_view kDTensor = "DTensor";
constexpr std::string_view kSharded = "ShardedTensor";

/// The arguments of _rebuild_from_type_v2(function, class, arguments, state).
struct Rebuilt {
  std::string_view name;  ///< of the class; empty: none of ours
  Value arguments;
  Value state;
};

Rebuilt rebuilt(Value value) {
  for (int depth = 0; depth < kMostWrappers; ++depth) {
    const Global* callee = value.callable().global();
    if (callee == nullptr) return {};
    const Value args = value.args();
    if (callee->name == "_rebuild_parameter" || callee->name == "_rebuild_parameter_with_state") {
      value = args[0];
      continue;
    }
    if (callee->name != "_rebuild_from_type_v2") return {};
    const Global* type = args[1].global();
    if (type == nullptr || (type->name != kDTensor && type->name != kSharded)) return {};
    return {type->name, args[2], args[3]};
  }
  return {};
}

Extents extents_of(Value value, std::string_view what) {
  const auto items = short_sequence(value, kMostDims);
  if (!items) {
    throw Error(fmt::format("{} of a distributed tensor is no list of numbers", what),
                value.where());
  }
  Extents extents;
  for (const Value& item : *items) {
    const auto number = item.integer();
    if (!number || *number < 0) {
      throw Error(fmt::format("{} of a distributed tensor has something other than a count", what),
                  item.where());
    }
    extents.push_back(*number);
  }
  return extents;
}

}  // namespace

bool is_distributed(Value value) { return !rebuilt(value).name.empty(); }

Shape distributed_shape(Value value) {
  // _rebuild_wrapper_subclass(class, dtype, size, ...)
  return extents_of(rebuilt(value).arguments[2], "size");
}

std::shared_ptr<const TorchMesh> DistributedReader::mesh(Value value) {
  const auto [known, fresh] = meshes_.try_emplace(value.id());
  if (!fresh) {
    if (known->second == nullptr) throw Error("its device mesh cannot be read", value.where());
    return known->second;
  }
  if (ranks_left_ <= 0)
    throw Error::unable("limit reached: device meshes of too many ranks", value.where());
  ranks_left_ -= kMostOfMesh;  // of one that fails, too
  auto made = std::make_shared<const TorchMesh>(torch_mesh(file_, value));
  ranks_left_ += kMostOfMesh - made->ranks();
  known->second = made;
  if (made->rank) ranks_.insert(*made->rank);
  return made;
}

std::vector<std::shared_ptr<const TorchMesh>> DistributedReader::meshes() const {
  std::vector<std::shared_ptr<const TorchMesh>> all;
  for (const auto& [id, mesh] : meshes_) {
    if (mesh != nullptr) all.push_back(mesh);
  }
  return all;
}

void DistributedReader::read_dtensor(Value state, DistributedTensor& made) {
  const Value spec = state_entry(state, "_spec");
  const Value stated = attribute(spec, "mesh");
  made.mesh = mesh(stated);
  const Value root = attribute(stated, "_root_mesh");
  if (root.is(NodeKind::object) && !meshes_.contains(root.id())) {
    try {
      mesh(root);
    } catch (const Error&) {
      // the tensor's own mesh tells where it lies
    }
  }
  made.placement = placement_of_spec(spec, made.mesh->axes, made.shape.size());
  const auto rank = rank_ ? std::optional<std::int64_t>(*rank_) : made.mesh->rank;
  const auto at = rank ? made.mesh->coordinates(*rank) : std::nullopt;
  if (!at) {
    throw Error(rank ? fmt::format("rank {} is not in the tensor's device mesh of {} ranks", *rank,
                                   made.mesh->ranks())
                     : "nothing says which rank's part of a DTensor this is",
                spec.where());
  }
  made.at = *at;
  const Value local = state_entry(state, "_local_tensor");
  if (!TorchFile::is_tensor(local)) throw Error("a DTensor has no local tensor", spec.where());
  made.parts.push_back({local, {}, {}});
}

void DistributedReader::read_shards(Value state, DistributedTensor& made) {
  made.boxed = true;
  const auto shards = short_sequence(state[0], kMostShards);
  if (!shards) throw Error("a ShardedTensor has no list of local shards", state.where());
  if (const auto rank = attribute(state[2], "global_rank").integer()) ranks_.insert(*rank);
  if (const auto world = attribute(state[2], "global_world_size").integer()) worlds_.insert(*world);
  for (const Value& shard : *shards) {
    const Value tensor = attribute(shard, "tensor");
    const Value metadata = attribute(shard, "metadata");
    if (!TorchFile::is_tensor(tensor)) throw Error("a shard has no tensor", shard.where());
    made.parts.push_back({tensor, extents_of(attribute(metadata, "shard_offsets"), "offset"),
                          extents_of(attribute(metadata, "shard_sizes"), "size")});
  }
}

DistributedTensor DistributedReader::read(Value value) {
  const Rebuilt found = rebuilt(value);
  DistributedTensor made;
  made.shape = distributed_shape(value);
  if (found.name == kDTensor) {
    read_dtensor(found.state, made);
  } else {
    read_shards(found.state, made);
  }
  return made;
}

}  // namespace ttcheck::formats
