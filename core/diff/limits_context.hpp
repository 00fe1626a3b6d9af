#pragma once
// What the limits need to know of all pairs of a step.

#include <span>

#include "core/compare/compare.hpp"
#include "core/diff/met.hpp"
#include "core/limits/limits.hpp"

namespace ttcheck::diff {

/// Told without their bytes, of all that met, reported or not: of two traces, that is all.
limits::LimitContext context_of_pairs(const MetStep& met);

/// After the first pass over the pairs.
limits::LimitContext context_of(const Work& work, std::span<const compare::Compared> compared,
                                bool trace);

}  // namespace ttcheck::diff
