// SPDX-License-Identifier: Apache-2.0
#pragma once
// The optimizer that a rank of Megatron saves in `model_optim_rng.pt`: torch's own, wrapped for
// mixed precision, one alone or a chain of them (megatron/core/optimizer/optimizer.py).

#include <vector>

#include "core/model/run.hpp"
#include "formats/megatron/optimizer_buffers.hpp"
#include "formats/torch/file.hpp"
#include "formats/torch/walk.hpp"

namespace ttcheck::formats {

struct MegatronOptimizer {
  const TorchFile& file;
  Value value;
  const std::vector<BufferParameter>& parameters;  ///< of the rank, in the model's order
  bool experts_apart = false;  ///< of a chain of two the second one is the experts'
};

/// Its tensors, as `<param>@<key>` where the parameter is known, and what else it holds. What its
/// groups say goes to the facts of `state`, and what fits no parameter to the findings.
Leaves read_megatron_optimizer(const MegatronOptimizer& optimizer, WalkBudget& budget,
                               State& state);

}  // namespace ttcheck::formats
