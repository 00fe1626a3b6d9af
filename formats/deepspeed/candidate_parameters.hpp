// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parameters that the numbers of a rank's optimizer may stand for, in the model's order, where
// nothing lists them (ZeRO 0).

#include <cstdint>
#include <vector>

#include "formats/deepspeed/budget.hpp"
#include "formats/deepspeed/model_states.hpp"
#include "formats/deepspeed/tag.hpp"
#include "formats/torch/optimizer.hpp"

namespace ttcheck::formats {

/// Whether a rank of that MM may hold it: files of layers have the tensor-parallel rank in their
/// names, others MM.
bool may_be_of(const DeepspeedTag& tag, const DeepspeedWeight& weight, std::int64_t mp);

/// The weights of a stage (MM in file names) in the module's order: each shared one once, no
/// buffers, no experts. Of a pipeline without stated stages: those of all stages.
std::vector<Candidate> dense_parameters(const DeepspeedTag& tag,
                                        const std::vector<DeepspeedWeight>& weights,
                                        std::int64_t mp);

/// The experts of one rank, layer by layer: an equal share of those that there are. Those whose
/// file is missing are like the others. Stops where `budget` ends.
std::vector<Candidate> expert_parameters(const DeepspeedTag& tag,
                                         const std::vector<DeepspeedWeight>& weights,
                                         std::int64_t mp, std::int64_t ep_rank,
                                         DeepspeedBudget& budget, State& state);

}  // namespace ttcheck::formats
