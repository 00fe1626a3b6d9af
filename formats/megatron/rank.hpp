// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one rank of a Megatron run saved: `model_optim_rng.pt` and, with the distributed optimizer,
// `distrib_optim.pt` beside it (megatron/training/checkpointing.py).

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/run.hpp"
#include "formats/bytes/root.hpp"
#include "formats/megatron/args.hpp"
#include "formats/megatron/names.hpp"
#include "formats/torch/budget.hpp"
#include "formats/torch/file.hpp"
#include "formats/torch/walk.hpp"

namespace ttcheck::formats {

inline constexpr std::string_view kMegatronFile = "model_optim_rng.pt";
inline constexpr std::string_view kMegatronBuffers = "distrib_optim.pt";

class MegatronRank;

/// Ranks whose buffers may lie in each other's places.
struct MegatronNeighbours {
  std::vector<std::pair<std::string, const MegatronRank*>> ranks;  ///< by directory
  std::int64_t tries = 256;  ///< to place one rank's buffers by another's weights, that are left
};

class MegatronRank {
 public:
  /// Reads the metadata of the files in `directory` below `root`, which must outlive it. Throws
  /// Error when the model's file cannot be read; what is wrong with the other is a finding.
  MegatronRank(const Root& root, const std::string& directory);

  const std::optional<MegatronArgs>& args() const { return args_; }
  std::optional<std::int64_t> iteration() const { return iteration_; }
  /// The version of the checkpoint's form; 0 where it says none, as files before 1.0 do.
  double version() const { return version_; }
  std::size_t chunks() const { return chunks_.size(); }
  /// Layers in a chunk: the highest number and one.
  std::int64_t layers(std::size_t chunk) const;
  /// Experts that the rank holds by name: the highest number and one; 0 where none has a name.
  std::int64_t experts() const;
  /// Rows of the rank's part of the embedding; 0 where it has none.
  std::int64_t vocabulary() const;
  /// True when the rank has the model's embedding itself, so that its head is not a copy.
  bool has_embedding() const { return has_embedding_; }

  /// Reads tensors under their names in the whole model, unplaced; all else as facts; what cannot
  /// be described as findings. `places` by chunk. Buffers that are not of these weights are looked
  /// for among those of the neighbours, and then TT301.
  State read(const MegatronArgs& args, const std::vector<ChunkPlace>& places,
             MegatronNeighbours& neighbours);

 private:
  class Reading;

  void find_chunks();

  std::unique_ptr<TorchFile> model_, buffers_;
  std::vector<Finding> findings_;
  std::int64_t unreadable_ = 0;
  std::unique_ptr<WalkBudget> budget_;
  std::optional<MegatronArgs> args_;
  std::optional<std::int64_t> iteration_;
  double version_ = 0;
  std::vector<Leaves> chunks_;  ///< under plain names
  bool has_embedding_ = false;
  bool lacks_buffers_ = false;
};

}  // namespace ttcheck::formats
