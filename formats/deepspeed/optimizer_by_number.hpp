// SPDX-License-Identifier: Apache-2.0
#pragma once
// Optimizers that are not partitioned (ZeRO 0): state by the number of each parameter, in
// mp_rank_MM_model_states.pt, or for models with experts in expp_rank files
// (deepspeed/runtime/fp16/unfused_optimizer.py, fused_optimizer.py, or torch's own dict).

#include <vector>

#include "core/model/run.hpp"
#include "formats/deepspeed/budget.hpp"
#include "formats/deepspeed/model_states.hpp"
#include "formats/deepspeed/step_counters.hpp"
#include "formats/deepspeed/tag.hpp"

namespace ttcheck::formats {

/// Adds masters and moments under the names of the trainable parameters, whose order and shapes the
/// numbers follow; dense parameters of expp_rank files are replicas. The tag must outlive the
/// records.
void read_numbered(const DeepspeedTag& tag, const std::vector<DeepspeedWeight>& weights,
                   DeepspeedBudget& budget, DeepspeedSteps& steps, State& state);

}  // namespace ttcheck::formats
