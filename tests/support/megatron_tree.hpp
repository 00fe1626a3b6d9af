// SPDX-License-Identifier: Apache-2.0
#pragma once
// Megatron checkpoints of a small model, cut by hand: every element of a tensor has a value of its
// own, so that a piece in the wrong place shows.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/support/temp_dir.hpp"

namespace ttcheck::tests {

struct MegatronTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;

  bool operator==(const MegatronTensor&) const = default;
};

using MegatronModel = std::map<std::string, MegatronTensor>;

/// The pickled Namespace of these arguments; -1 stands for None.
std::string megatron_namespace(const std::map<std::string, std::int64_t>& args);

struct MegatronTree {
  std::int64_t tp = 1, pp = 1, vpp = 1, ep = 1, etp = 0;  ///< etp 0: as tp
  std::int64_t layers = 4, hidden = 6, heads = 4, groups = 2, head_dim = 3, ffn = 10;
  std::int64_t vocab = 13, divisor = 3, experts = 0;
  bool swiglu = true, tied = false, biases = false, adam = false, buffers = false;
  std::int64_t iteration = 10;
  /// Changes the arguments of a rank before they are written.
  std::function<void(std::int64_t rank, std::map<std::string, std::int64_t>& args)> change_args;
  /// Changes a rank's own tensors (by plain name) before they are written.
  std::function<void(std::int64_t rank, MegatronModel& own)> change_tensors;
  /// As change_tensors, for what the buffers of the distributed optimizer hold.
  std::function<void(std::int64_t rank, MegatronModel& masters)> change_masters;

  std::int64_t padded_vocab() const;
  /// The whole model, unpadded, with optimizer state where it is saved.
  MegatronModel model() const;
  /// Writes `folder/mp_rank_*` for each rank that saves; gives their names, by rank.
  std::vector<std::string> write(const TempDir& root, const std::string& folder) const;
};

}  // namespace ttcheck::tests
