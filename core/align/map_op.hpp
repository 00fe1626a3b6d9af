// SPDX-License-Identifier: Apache-2.0
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
#include "core/model/dtype.hpp"
#include "core/model/layout.hpp"

namespace ttcheck::align {

enum class OpKind : std::uint8_t {
  same,
  ignore,            ///< matching tensors are left out
  tie,               ///< as `same`; a side that lacks its tensor keeps it under another name
  cast,              ///< as `same`; the whole has this dtype
  dequant,           ///< as `same`; one side's is stored in 8 bits, with scales
  add,               ///< as `same`; whole = part + c
  scale,             ///< as `same`; whole = part * c
  concat,            ///< along `dim`
  stack,             ///< along a new axis `dim`
  stack_turned,      ///< along a new axis 0, each part transposed (Llama 4's experts)
  stack_glu,         ///< gate, up of one expert after the other: halves of rows, stacked
  stack_glu_turned,  ///< the same, each [gate; up] transposed: halves of columns
  stack_glu_pairs,   ///< the same, columns of gate and up in turn (gpt-oss)
  slice,             ///< whole: rows a to b of the part's axis `dim`
  reshape,           ///< the same elements in the same order
  glu,               ///< gate, up: halves of axis 0
  transpose,         ///< of two axes; anything else stays
  qkv_interleave,    ///< rows by group: its query heads, its key head, its value head (Megatron)
  qkv_v0,            ///< all q, all k, all v (Megatron's checkpoint_version 0; GPT-2's transposed)
  qkv_v1,            ///< head by head, row by row: q, k, v (checkpoint_version 1)
  rope_permute,      ///< whole: pairs side by side (Meta); part: halves (Hugging Face)
  conv1d,            ///< whole: [in, out] (GPT-2's Conv1D); part: [out, in]
  conv1d_qkv,        ///< the same of q, k and v side by side
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

/// The dtype that `cast` says; nothing for other ops.
std::optional<DType> dtype_of(const MapOp& op);

/// The one number of `add` or `scale`, a decimal or the name of a number; nothing when unknown, not
/// finite, or a factor that has no inverse.
std::optional<double> real_of(const MapOp& op, const Numbers& numbers);

/// The op on a whole of this shape and `parts` parts. `known`: the parts' shapes as the other side
/// has them, empty when it does not; `slice` and `reshape` need them, `concat` without them takes
/// equal parts. Nothing when the shape or the numbers do not admit it.
std::optional<BoxMap> map_of_whole(const MapOp& op, const Numbers& numbers, const Shape& whole,
                                   std::size_t parts, std::span<const Shape> known = {});

/// What map_of_whole gives where the shapes of all parts are known; nothing when the op does not
/// make that whole of them.
std::optional<BoxMap> map_of_parts(const MapOp& op, const Numbers& numbers, const Shape& whole,
                                   std::span<const Shape> parts);

}  // namespace ttcheck::align
