// SPDX-License-Identifier: Apache-2.0
#pragma once
// What DeepSpeed's files state beside tensors: versions, counters, the configuration, loss scales,
// the options of parameter groups, and whatever the training script put in.

#include "core/model/run.hpp"
#include "formats/deepspeed/tag.hpp"

namespace ttcheck::formats {

/// Adds the facts of all model and optimizer files, those that ranks share once; tensors of the
/// script's own as records.
void read_facts(const DeepspeedTag& tag, State& state);

/// Facts of one optimizer's dict: `optimizer.<key>`, and of its groups
/// `optimizer.groups.<i>.<key>`.
std::vector<Fact> optimizer_facts(Value optimizer, WalkBudget& budget);

}  // namespace ttcheck::formats
