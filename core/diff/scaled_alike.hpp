// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors of two stored states that are all the same multiple of the reference's: one finding.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/diff/met.hpp"

namespace ttcheck::diff {

/// Folds findings that say one factor (TT201): the first stays and says how many results of the
/// step have it, those included that had no finding of their own. `diverged`: the result of each.
/// Gives how many findings speak for several results.
std::int64_t fold_scaled(const MetStep& met, std::span<const TensorResult> results,
                         std::vector<std::size_t>& diverged, std::vector<Finding>& findings,
                         const DiffContext& context);

}  // namespace ttcheck::diff
