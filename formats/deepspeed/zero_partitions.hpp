// SPDX-License-Identifier: Apache-2.0
#pragma once
// The partitions of ZeRO optimizers as records of the parameters that they were cut from.

#include "core/model/run.hpp"
#include "formats/deepspeed/budget.hpp"
#include "formats/deepspeed/step_counters.hpp"
#include "formats/deepspeed/tag.hpp"

namespace ttcheck::formats {

/// Adds masters and moments, each rank's share as a range of its parameter's elements; numbers of
/// the state (`@step`) as facts of each parameter, and told to `steps`. Lengths that do not fit the
/// parameters' shapes are findings. The tag must outlive the records.
void read_zero(const DeepspeedTag& tag, DeepspeedBudget& budget, DeepspeedSteps& steps,
               State& state);

}  // namespace ttcheck::formats
