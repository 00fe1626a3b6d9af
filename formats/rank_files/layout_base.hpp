// SPDX-License-Identifier: Apache-2.0
#pragma once
// Built-in rules as the base of a user's layout: what frameworks do that cut by the name alone.

#include "core/model/layout.hpp"

namespace ttcheck::formats {

/// `hf`: the tensor-parallel plan of transformers' decoders (`base_model_tp_plan`, in
/// transformers/models/*/configuration_*.py): projections into the heads and into the MLP by rows,
/// those out of them by columns, the head by rows, all else whole on each rank. `fsdp2`: every
/// tensor by rows, in chunks as torch.chunk cuts them (torch/distributed/fsdp/_fully_shard), over
/// the axis `fsdp`, else `dp_shard`, else `dp`; steps of the optimizer are whole. The rules count
/// behind the layout's own. Nothing for another base.
void add_layout_base(Layout& layout);

}  // namespace ttcheck::formats
