#pragma once
// The ops of name maps (man/ttcheck-layout.5): what each says about boxes. `parts -> whole`; the
// inverse is the same map read the other way.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/align/box_map.hpp"
#include "core/model/layout.hpp"

namespace ttcheck::align {

enum class OpKind : std::uint8_t {
  same,
  ignore,          ///< matching tensors are left out
  concat,          ///< along `dim`
  stack,           ///< along a new axis `dim`
  glu,             ///< gate, up: halves of axis 0
  transpose,       ///< of two axes; anything else stays
  qkv_interleave,  ///< rows by group: its query heads, its key head, its value head (Megatron)
  qkv_v0,          ///< all q, all k, all v (Megatron's checkpoint_version 0; GPT-2's transposed)
  qkv_v1,          ///< head by head, row by row: q, k, v (checkpoint_version 1)
  rope_permute,    ///< whole: pairs side by side (Meta); part: halves (Hugging Face)
  conv1d,          ///< whole: [in, out] (GPT-2's Conv1D); part: [out, in]
  conv1d_qkv,      ///< the same of q, k and v side by side
};

/// An op with its arguments, each a number or the name of one: `qkv_interleave(heads, 2, 64)`.
struct MapOp {
  OpKind kind = OpKind::same;
  std::vector<std::string> arguments;
};

/// Throws Error that says which ops are known, or how many arguments it takes.
MapOp parse_op(std::string_view text);

/// Arguments that are names without a number.
std::vector<std::string> unknown_numbers(const MapOp& op, const Numbers& numbers);

/// The op on a whole of this shape and `parts` parts. `lengths`: of the parts along the axis of
/// `concat`; empty: equal ones. Nothing when the shape or the numbers do not admit it.
std::optional<BoxMap> map_of_whole(const MapOp& op, const Numbers& numbers, const Shape& whole,
                                   std::size_t parts, std::span<const std::int64_t> lengths = {});

/// The same from the shapes of all parts.
std::optional<BoxMap> map_of_parts(const MapOp& op, const Numbers& numbers,
                                   std::span<const Shape> parts);

}  // namespace ttcheck::align
