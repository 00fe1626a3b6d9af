// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pickled tensors of torch.distributed: one rank's part of a DTensor or a ShardedTensor, and where
// in the whole it lies. Classes are matched by name, whatever module held them: DTensor moved from
// torch.distributed._tensor.api to torch.distributed.tensor in 2.5. Sources of the rules:
// torch/distributed/tensor/{_dtensor_spec,placement_types}.py,
// torch/distributed/_shard/sharded_tensor/api.py, torch/distributed/_shard/metadata.py.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/model/box.hpp"
#include "core/model/mesh.hpp"
#include "core/model/placement.hpp"
#include "formats/torch/mesh.hpp"

namespace ttcheck::formats {

struct DistributedTensor {
  /// An array that the rank holds.
  struct Part {
    Value tensor;      ///< TorchFile::is_tensor
    Extents lo, size;  ///< of a ShardedTensor's shard: its box
  };

  Shape shape;              ///< of the whole
  std::vector<Part> parts;  ///< one of a DTensor; of a ShardedTensor none or more
  bool boxed = false;       ///< parts have boxes; else `placement` and `at` tell
  std::shared_ptr<const Placement> placement;  ///< none: every rank of the mesh holds the whole
  Coordinates at;                              ///< of the rank along the mesh's axes
  std::shared_ptr<const TorchMesh> mesh;       ///< of a DTensor
};

/// True for a value that rebuilds one, Parameters taken off.
bool is_distributed(Value value);

/// Reads its logical shape. Throws Error when that is not there. REQUIRES is_distributed.
Shape distributed_shape(Value value);

/// The distributed tensors of one file. Meshes are read once each.
class DistributedReader {
 public:
  /// `rank` is the one whose file it is; without it, the one that a mesh says. `file` must outlive
  /// the reader.
  DistributedReader(const TorchFile& file, std::optional<std::int32_t> rank)
      : file_(file), rank_(rank) {}

  /// Throws Error that names the place of what is not understood. REQUIRES is_distributed.
  DistributedTensor read(Value value);

  const std::set<std::int64_t>& ranks() const { return ranks_; }    ///< that wrote it, as it says
  const std::set<std::int64_t>& worlds() const { return worlds_; }  ///< ranks in all, as it says
  /// The meshes met so far and their roots, in the order of their places in the file.
  std::vector<std::shared_ptr<const TorchMesh>> meshes() const;

 private:
  void read_dtensor(Value state, DistributedTensor& made);
  void read_shards(Value state, DistributedTensor& made);
  std::shared_ptr<const TorchMesh> mesh(Value value);

  const TorchFile& file_;
  std::optional<std::int32_t> rank_;
  static constexpr std::int64_t kMostOfMesh = std::int64_t{1} << 20;
  std::map<NodeId, std::shared_ptr<const TorchMesh>> meshes_;  ///< null: cannot be read
  std::int64_t ranks_left_ = 16 * kMostOfMesh;                 ///< that meshes may list together
  std::set<std::int64_t> ranks_, worlds_;
};

}  // namespace ttcheck::formats
