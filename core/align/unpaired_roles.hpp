// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one side may have alone without lacking a weight: a training's bookkeeping (losses,
// counters, states of generators), buffers that a module computes, and further copies of the
// weights.

#include <string_view>

#include "core/align/bench.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::align {

/// The rule that a tensor of a checkpoint is bookkeeping under, by its name and shape; empty: it is
/// none.
std::string_view bookkeeping_rule(const Tensor& tensor);

/// Takes bookkeeping that only one side has, and whole further copies of its weights under another
/// key, out of the bench, each under a rule that names it. REQUIRES that everything has met that
/// can.
void exclude_bookkeeping(Bench& bench);

}  // namespace ttcheck::align
