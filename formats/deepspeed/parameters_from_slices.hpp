// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names and shapes of trained parameters where `param_shapes` is not written: a pipeline under
// BF16_Optimizer without ZeRO (deepspeed/runtime/engine.py `_common_checkpoint_state`).

#include "formats/deepspeed/tag.hpp"

namespace ttcheck::formats {

/// Fills the groups of `tag.parameters` that are empty from the `param_slice_mappings` of the
/// optimizers, which list names in the order of the row, and the shapes of the weights in the files
/// of layers and modules. A parameter whose weight is not there is one row of elements.
void list_parameters(DeepspeedTag& tag);

}  // namespace ttcheck::formats
