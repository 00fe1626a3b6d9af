// SPDX-License-Identifier: Apache-2.0
#pragma once
// How Megatron cuts its tensors over tensor and expert parallel ranks: a table of names and dims
// (tensor_parallel/layers.py, transformer/mlp.py, moe/experts.py, multi_latent_attention.py and
// ssm/mamba_mixer.py in megatron/core, and the modules of the same use in megatron/legacy).

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/layout.hpp"
#include "formats/megatron/args.hpp"

namespace ttcheck::formats {

/// Makes a layout without files of the table: `tensors` alone. Names are the modules', with global
/// numbers of layers and experts. `version`: of the checkpoint; below 1 the parts of the fused
/// attention weight lie apart.
Layout megatron_layout(const MegatronArgs& args, double version);

/// MLA's down projections are whole on each rank, or cut over the ranks, part by part: their rows
/// say which. Null for other names, and for whole ones.
std::shared_ptr<const Placement> cut_down_projection(const MegatronArgs& args,
                                                     std::string_view name, const Shape& local);

/// What the arguments say of a tensor's logical shape, padding of the vocabulary included; nothing
/// where they don't say all of it.
std::optional<Shape> stated_shape(const MegatronArgs& args, std::string_view name);

}  // namespace ttcheck::formats
