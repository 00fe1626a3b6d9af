// SPDX-License-Identifier: Apache-2.0
#pragma once
// Records of traces whose modules are fused on one side: what is said of a projection's weight
// holds for what a training does with it. Its gradients, moments and masters are cut like itself,
// and what it puts out along the last dim as its rows are; what goes in is the same for all parts.

#include "core/align/bench.hpp"
#include "core/align/recast.hpp"

namespace ttcheck::align {

/// `of_weights` as readings of any tensor: of a record `<module>/<kind>.<slot>` those of the weight
/// `<module>.<slot>`, or of `<module>.weight` for output and grad_output; the parts are then
/// records, too. None of other kinds. What a checkpoint holds is read as it is.
Readings of_records(const Readings& of_weights);

/// Pairs the input of a fused module with that of each of its parts, and excludes what flows back
/// out of either (grad_input), which for the parts is one addend each. REQUIRES that recast has
/// paired what it can. Both readings as of_records has them.
void pair_shared_inputs(Bench& bench, const Readings& reference, const Readings& candidate);

}  // namespace ttcheck::align
