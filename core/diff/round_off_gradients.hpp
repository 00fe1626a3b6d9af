// SPDX-License-Identifier: Apache-2.0
#pragma once
// Biases whose gradients are round-off, as an optimizer's state beside them shows.

#include <span>
#include <vector>

#include "core/compare/compare.hpp"
#include "core/diff/work.hpp"

namespace ttcheck::diff {

/// Tells of each pair of two stored states, in order, whether it is a bias whose gradient is
/// round-off, its master or one of its moments. Needs the moments of the bias and of the weight
/// beside it, on both sides.
std::vector<bool> of_round_off_gradients(const Work& work,
                                         std::span<const compare::Compared> compared);

}  // namespace ttcheck::diff
