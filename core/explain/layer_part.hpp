// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a tensor is in a layer, as far as its name tells.

#include <cstdint>
#include <string_view>

namespace ttcheck::explain {

enum class LayerPart : std::uint8_t {
  unknown,
  gated,      ///< gate and up of an MLP, or of one expert
  rotary,     ///< queries or keys, alone or fused, or what they are projected down to
  key_value,  ///< keys and values in one, without queries
  heads,      ///< values, or the projection behind attention
  plain,      ///< embedding, head, norm, projection down of an MLP
};

/// What the tensor of that name is in its layer, by the innermost dotted part that tells:
/// `self_attention.linear_q_up_proj` is of attention.
LayerPart layer_part_of(std::string_view name);

/// True for queries, keys and values in one, and where the name does not tell.
bool may_be_fused_qkv(std::string_view name);

/// True where slices along dimension 0 are experts by name: of a stack or a router, not of one
/// expert by itself nor of a shared one.
bool stacks_experts(std::string_view name);

}  // namespace ttcheck::explain
