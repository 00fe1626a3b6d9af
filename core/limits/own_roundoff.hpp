// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is left of the limit model where all that went into a record is known to agree: the depth
// of what was computed since, and not of the network.

#include <cstdint>

#include "core/model/dtype.hpp"

namespace ttcheck::limits {

/// Whether these hold for runs whose coarsest dtype this is: 16 bits, where what is stored is
/// rounded far more than what is summed. Wider ones are held to little already; narrower ones are
/// scaled.
bool has_own_roundoff(DType coarsest);

/// The most by which all values may differ to one side, beyond what went in did.
double own_lean(DType coarsest);

/// The largest rel of what was made of equal things by `weights` ops with weights, one at least,
/// and what lies around them; `addends` roundings more, of partial sums of ranks.
double own_roundoff(DType coarsest, std::int64_t weights, std::int64_t addends);

}  // namespace ttcheck::limits
