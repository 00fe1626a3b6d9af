// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rule of the bench for traces whose modules are fused on one side under names that no family
// of models has: what is loaded at the beginning of a step proves which are, and what they put out
// and their gradients lie as their weights do.

#include <span>
#include <string>
#include <vector>

#include "core/align/bench.hpp"
#include "core/align/contents.hpp"
#include "core/model/layout.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::align {

/// Finds modules of which the loaded weights (`state`), still alone, are joined in those of one of
/// the other side, byte for byte (core/align/joined_content), and pairs the records of these and of
/// the `known` ones: biases, gradients and moments in the same rows, outputs along their last dim,
/// inputs with each part's. Adds those found to what was done. Tensors seen through a cut are added
/// to `candidate`.
void pair_joined_modules(Bench& bench, std::vector<Tensor>& candidate, const Numbers& numbers,
                         const ContentOf& content, std::span<const JoinedModules> known);

}  // namespace ttcheck::align
