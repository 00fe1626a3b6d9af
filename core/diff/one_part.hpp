// SPDX-License-Identifier: Apache-2.0
#pragma once
// Several tensors beyond their limits that are one part of a model: one finding.

#include <cstddef>
#include <span>
#include <vector>

#include "core/diff/met.hpp"

namespace ttcheck::diff {

/// Folds findings where all that diverged are the optimizer's, running statistics, one module's or
/// one layer's: the first of those that name no cause stays and says so; the others of these go. So
/// it is with those of each layer that is wrong as a whole beside layers that are right, but for
/// places in it. `before`: what else was found. `diverged`: the result of each finding.
void fold_part(const MetStep& met, std::span<const TensorResult> results,
               std::span<const Finding> before, std::vector<std::size_t>& diverged,
               std::vector<Finding>& findings);

}  // namespace ttcheck::diff
