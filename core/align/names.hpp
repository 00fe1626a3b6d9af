// SPDX-License-Identifier: Apache-2.0
#pragma once
// When two spellings of a name mean the same tensor.

#include <string>
#include <string_view>
#include <vector>

namespace ttcheck::align {

/// The name without the prefixes that only wrap: `module.` `_orig_mod.` `_fsdp_wrapped_module.`
/// `_checkpoint_wrapped_module.` `base_layer.` `modules_to_save.` wherever they stand as a part,
/// and PEFT's `base_model.model.` in front.
std::string unwrapped(std::string_view name);

/// `unwrapped`, and without the name of the adapter that stands within a model
/// (`lora_A.default.weight`, `modules_to_save.default`) and not in its checkpoints
/// (peft/utils/save_and_load.py). A model of two adapters has a name twice, then.
std::string without_adapter(std::string_view name);

/// `without_adapter` and without a leading `model.`.
std::string bare(std::string_view name);

/// `bare`, and without the `language_model.` of models that also see or hear, which stands before
/// or behind `model.` (`_checkpoint_conversion_mapping` of transformers' LLaVA, Qwen2-VL, ...).
std::string language_part(std::string_view name);

/// `<p>` of `<p>@master`; empty for other names.
std::string_view parameter_of_master(std::string_view name);

/// Edit distance of the dotted parts (a changed part counts by how much of it changed, 0 to 1).
double part_distance(std::string_view a, std::string_view b);

}  // namespace ttcheck::align
