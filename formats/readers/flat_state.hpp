// SPDX-License-Identifier: Apache-2.0
#pragma once
// Optimizer state in a flat file of tensors: `optimizer.state.<parameter>.exp_avg`, as torch's
// flattened state dicts have it (torch/distributed/checkpoint/state_dict.py) whoever writes them.

#include <vector>

#include "core/model/record.hpp"

namespace ttcheck::formats {

/// Gives such records the name `<parameter>@<field>` and its kind, where the parameter is among the
/// records and no other has that name.
void name_flat_state(std::vector<Record>& records);

}  // namespace ttcheck::formats
