#pragma once
// What the limits need to know of all pairs of a step.

#include <span>

#include "core/compare/compare.hpp"
#include "core/diff/met.hpp"
#include "core/limits/limits.hpp"

namespace ttcheck::diff {

/// Of all records of two traces, told without their bytes. `apart`: what earlier steps left.
limits::LimitContext context_of_records(const MetStep& met, const limits::Apart& apart);

/// Of two traces whose pairs are all compared, reported or not.
limits::LimitContext context_of_pairs(const MetStep& met);

/// After the first pass over the pairs.
limits::LimitContext context_of(const Work& work, std::span<const compare::Compared> compared,
                                bool trace);

}  // namespace ttcheck::diff
