// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the model families name and fuse what is the same: Hugging Face, Megatron, Meta. Each name is
// described in common parts; two names mean the same when they are made of the same parts.

#include "core/align/expert_stacks.hpp"
#include "core/align/layer_names.hpp"
#include "core/align/recast.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::align {

/// The readings of a tensor's name, wrappers and leading `model.` aside; none when no dialect knows
/// the name, or when nothing tells which way its experts lie. `stacks` and `names`: of the tensors'
/// side. Parts are in common words:
/// `layers.3.q.weight@exp_avg`. Schemes are "hf", "gpt-oss" (where experts have biases),
/// "megatron" and "meta".
Readings dialects(const ExpertStacks& stacks, const LayerNames& names);

}  // namespace ttcheck::align
