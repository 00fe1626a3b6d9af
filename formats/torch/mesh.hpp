// SPDX-License-Identifier: Apache-2.0
#pragma once
// A pickled torch.distributed.device_mesh.DeviceMesh: which ranks stand where along its named axes.
// Up to torch 2.8 it holds its ranks as a tensor (`mesh`); since then a layout over the ranks of
// its root (`_layout`, `_rank_map`): one shape and stride a dimension in 2.9, in 2.13 a list of
// them (torch/distributed/device_mesh.py, torch/distributed/_mesh_layout.py).

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/model/mesh.hpp"
#include "formats/bytes/pickle.hpp"

namespace ttcheck::formats {

class TorchFile;

struct TorchMesh {
  /// One digit of a coordinate: (position / stride) % size. Slowest first.
  struct Digit {
    std::int64_t size = 1;
    std::int64_t stride = 1;
  };

  std::vector<Axis> axes;  ///< unnamed ones are `dp`, or of several `mesh0`, `mesh1`...
  std::vector<std::vector<Digit>> digits;   ///< of each axis
  std::map<std::int64_t, std::int64_t> at;  ///< position of each rank
  std::optional<std::int64_t> rank;         ///< the one that pickled it, where it says so

  /// Counts the ranks of the run that it belongs to, as far as it tells.
  std::int64_t ranks() const { return static_cast<std::int64_t>(at.size()); }
  /// True when its axes count all of them.
  bool is_whole() const;
  /// Gives none for a rank that is not in it.
  std::optional<Coordinates> coordinates(std::int64_t of) const;
};

/// Throws Error that names the place when the value is no such mesh.
TorchMesh torch_mesh(const TorchFile& file, Value value);

}  // namespace ttcheck::formats
