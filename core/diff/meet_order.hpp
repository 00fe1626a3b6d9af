// SPDX-License-Identifier: Apache-2.0
#pragma once
// The order of pairs: that in which a difference would have come about.

#include <array>
#include <vector>

#include "core/align/align.hpp"
#include "core/diff/context.hpp"
#include "core/diff/open_step.hpp"

namespace ttcheck::diff {

/// Sorts pairs of two traces in causal order, by the side of one rank if there is one, and those of
/// states in the order in which the model was defined, where a side has it (the reference's, if
/// both have), kinds of tensors one behind the other; else in the order in which a model uses its
/// tensors, told from their names.
void sort_pairs(std::vector<align::PairIndex>& pairs, const std::array<OpenedStep, 2>& sides,
                const DiffContext& context);

}  // namespace ttcheck::diff
