// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether two runs that differ can be held to each other at all.

#include <span>

#include "core/diff/met.hpp"

namespace ttcheck::diff {

/// False where the first step of two traces, or one before this, shows that they cannot: other
/// batches, weights, dropout masks, models (core/locate/preconditions). It is then said once.
/// `results` are this step's, in the order in which a difference comes about.
bool are_comparable(const MetStep& met, std::span<const TensorResult> results, DiffContext& context,
                    Verdict& verdict);

}  // namespace ttcheck::diff
