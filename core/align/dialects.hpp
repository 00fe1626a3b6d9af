#pragma once
// How the model families name and fuse what is the same: Hugging Face, Megatron, Meta. Each name is
// described in common parts; two names mean the same when they are made of the same parts.

#include <span>

#include "core/align/recast.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::align {

/// The readings of a tensor's name, wrappers and leading `model.` aside; none when no dialect knows
/// the name. Parts are in common words: `layers.3.q.weight@exp_avg`. Schemes are "hf", "gpt-oss"
/// (where a side has the biases of its experts), "megatron" and "meta".
Readings dialects(std::span<const Tensor> reference, std::span<const Tensor> candidate);

}  // namespace ttcheck::align
