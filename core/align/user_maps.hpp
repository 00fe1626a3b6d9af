// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rules of the bench that the user's maps are.

#include <vector>

#include "core/align/bench.hpp"
#include "core/model/layout.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::align {

/// A map that renames, ignores, cuts or fuses; tensors seen through it are added to `candidate`.
/// Nothing for one that changes values: pair_rescaled, before any other rule. Throws Error where
/// the rule has no meaning.
void pair_by_map(Bench& bench, std::vector<Tensor>& candidate, const MapRule& rule,
                 const Numbers& numbers);

/// A map that changes values; nothing for any other. Tensors of one name are not the same either;
/// where one side has masters alone, they stand for their parameters.
void pair_rescaled(Bench& bench, const MapRule& rule, const Numbers& numbers);

}  // namespace ttcheck::align
