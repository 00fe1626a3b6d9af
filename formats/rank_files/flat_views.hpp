// SPDX-License-Identifier: Apache-2.0
#pragma once
// FSDP1's local state of a module that keeps its original parameters: beside a unit's flat
// parameter stand those, each as the view of what this rank's part of it holds of it: one
// dimension, often nothing. Their shapes are in no file
// (torch/distributed/fsdp/_state_dict_utils.py, _local_post_state_dict_hook).

#include <cstddef>
#include <vector>

#include "core/model/record.hpp"

namespace ttcheck::formats {

/// Takes out views of parts that `_flat_param` records hold, and says how many: they are no
/// tensors of their own, and their bytes are those records'.
std::size_t leave_out_flat_views(std::vector<Record>& records);

}  // namespace ttcheck::formats
