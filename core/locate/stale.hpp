// SPDX-License-Identifier: Apache-2.0
#pragma once
// Does a record still hold what it held in an earlier step, or before the update?

#include <cstdint>
#include <optional>
#include <span>

#include "core/model/verdict.hpp"

namespace ttcheck::locate {

/// The latest earlier step in which the candidate had the same values as now, though the
/// reference's have changed since. Told from the sums of squares that the first pass left: equal
/// bytes give equal sums, and of other values they are the same to the bit less than once in 10^6
/// times. Nothing for integers, fewer than 8 elements, or what is zero or not finite. `earlier`:
/// results of earlier steps, in their order.
std::optional<std::int64_t> stale_since(const TensorResult& result,
                                        std::span<const TensorResult> earlier);

/// True where the candidate's parameter is after an update what it was before, though the
/// reference's moved in at least half of its elements: no rounding undoes that. `before` and
/// `after` are of one name and step. Told from sums, as above; false where those do not tell.
bool unmoved(const TensorResult& before, const TensorResult& after);

}  // namespace ttcheck::locate
