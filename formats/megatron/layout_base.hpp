// SPDX-License-Identifier: Apache-2.0
#pragma once
// Megatron's rules as the base of a user's layout (`base = "megatron-legacy"`): what the layout
// itself does not say of names, dims and numbers. `deepspeed` are those of Megatron-DeepSpeed's
// modules (megatron/model/gpt_model.py `universal_checkpoint_info` there), cut by tensor-parallel
// ranks; experts are cut over the axis `etp` alone, else whole.

#include <optional>

#include "core/model/layout.hpp"
#include "core/model/source.hpp"
#include "formats/megatron/args.hpp"

namespace ttcheck::formats {

/// What a rank's file states of the model; where it states nothing, the newest form.
struct MegatronStated {
  MegatronArgs args{};
  double version = 3;  ///< of the form of checkpoints: rows of attention lie by groups
};

/// None where the file is no torch file that can be read. Throws Error for arguments that cannot
/// be.
std::optional<MegatronStated> megatron_stated(const Source& file);

/// Adds the rules behind the layout's own ones, which count first; the renames that number layers
/// and experts in the whole model, where the layout has none; and numbers of `[model]` that it
/// lacks, where `stated` has them.
void add_megatron_base(Layout& layout, MegatronStated stated);

}  // namespace ttcheck::formats
