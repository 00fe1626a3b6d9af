// SPDX-License-Identifier: Apache-2.0
#pragma once
// What alone is beyond its limit: one part of a model, or its optimizer.

#include <cstdint>
#include <span>
#include <string>

#include "core/model/verdict.hpp"

namespace ttcheck {

/// "the optimizer's state alone", "running statistics alone", "lm_head alone", "layers.2 alone":
/// where several of the tensors, of stored states, diverged, all of them are that, others agree,
/// and none of `findings` is an error of another. Else empty. A name in it is as the file spells
/// it. `paired`: tensors that both sides have, equal ones included; `weights`: some of them are
/// weights.
std::string part_alone(std::span<const TensorResult> tensors, std::span<const Finding> findings,
                       std::int64_t paired, bool weights);

}  // namespace ttcheck
