// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checkpoints of which one side keeps weights in 4 bits and the other does not: nothing decodes
// these, so that they meet nothing. Known by what lies beside a packed weight:
//
//   <module>.weight.absmax, .quant_map   bitsandbytes' nf4 and fp4
//   <module>.qweight with .scales        GPTQ and AWQ
//   <module>.weight_packed               compressed-tensors
//   <name>_blocks with <name>_scales     mxfp4, as gpt-oss keeps experts

#include <cstdint>
#include <span>
#include <string>

#include "core/align/alignment.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::align {

/// The rule, in the coverage.
inline constexpr const char* kUndecodedRule = "4-bit: not decoded";

struct Undecoded {
  std::int64_t weights = 0;  ///< packed ones that the other side has otherwise
  std::string first;         ///< name of the first of these
  bool candidate = false;    ///< else the reference holds them
};

/// Takes packed weights that the other side does not keep packed too, and what these meet or would
/// meet there, out of the alignment under a rule of its own.
Undecoded exclude_undecoded(std::span<const Tensor> reference, std::span<const Tensor> candidate,
                            Alignment& alignment);

}  // namespace ttcheck::align
