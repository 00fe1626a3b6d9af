// SPDX-License-Identifier: Apache-2.0
#pragma once
// `flat[...]`: a range of the row-major order of the tensor, or with `of` of the rank's own part.

#include <vector>

#include "core/assemble/plan.hpp"
#include "core/model/piece.hpp"

namespace ttcheck::assemble {

/// Cells of the elements that lie at coordinates `at`, for an array that is one contiguous row of
/// elements. `held` is the number of elements in it; less than 0: unknown. Throws Error when the
/// array is too short.
std::vector<Cell> flat_cells(const Extents& at, const Plan& plan, std::int64_t held);

}  // namespace ttcheck::assemble
