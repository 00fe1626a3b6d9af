// SPDX-License-Identifier: Apache-2.0
#pragma once
// Inputs of an op that one side recorded, and of which the other says which record they were.

#include "core/align/bench.hpp"

namespace ttcheck::align {

/// Pairs an input that stands alone (`layers.1.norm/input.0` of a pipeline's second stage) with
/// what the other side's op of the same name took in its place (`layers.0/output.0`), where that is
/// a record of the same pass and shape. It may have met another already. Not of ops that are named
/// by a counter.
void pair_named_inputs(Bench& bench);

}  // namespace ttcheck::align
