// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ops of name maps that change values: `add(c)` and `scale(c)`.

#include "core/align/map_op.hpp"
#include "core/model/kind.hpp"
#include "core/model/value_map.hpp"

namespace ttcheck::align {

/// candidate = forward(reference), reference = back(candidate).
struct Rescaling {
  ValueMap forward, back;
};

/// What the op does to tensors of a kind. What is added to a parameter leaves its gradient as it
/// is; a parameter c times as large has a gradient c times smaller (chain rule), and Adam's second
/// moment is of its square; what is neither (step counters, other state) stays. REQUIRES add or
/// scale with a number that is known.
Rescaling rescaling_of(const MapOp& op, Kind kind, const Numbers& numbers);

}  // namespace ttcheck::align
