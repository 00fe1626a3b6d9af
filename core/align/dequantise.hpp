// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checkpoints of which one side keeps weights in 8 bits with scales and the other does not: the
// weights' values stand for them (`dequant(scheme)` of a layout file's maps). Weight and scale are
// named as their writers name them:
//
//   <name>_scale_inv   DeepSeek's fp8: a scale for each block (of 128 x 128, mostly)
//   <name>_scale       fp8 and int8 of compressed-tensors, FBGEMM and others: one, one a row, or
//                      one a block
//   <module>.SCB       bitsandbytes' int8: the largest magnitude of each row of <module>.weight

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/model/layout.hpp"
#include "core/model/scaled_source.hpp"

namespace ttcheck::align {

/// What was made of two lists of tensors.
struct Dequantised {
  std::deque<ScaledSource> sources;          ///< read by the tensors: must outlive them
  std::map<std::string, std::string> rules;  ///< by name of a tensor: `dequant(block)`
  std::map<std::string, std::string> used;   ///< by name of a scale: the rule that used it up
};

/// The extents of the blocks that a scale of that shape is kept for: one for all, one a row (or a
/// matrix of a stack), or one a block. Nothing for any other shape.
std::optional<Extents> blocks_of(const Shape& stored, const Shape& scale);

/// Puts fp32 views in the place of 8-bit weights. Evidence is a scale beside it whose shape fits,
/// while the other side has no such scale and no weight of the same type under that name; or a map
/// of the user with the op `dequant`, which also may name the scale. Views say how far rounding may
/// have moved them (Tensor::rounding).
Dequantised dequantise(std::vector<Tensor>& reference, std::vector<Tensor>& candidate,
                       const std::vector<MapRule>& maps);

}  // namespace ttcheck::align
