#pragma once
// What the limits need to know of all pairs of a step.

#include <cstddef>
#include <span>
#include <utility>

#include "core/compare/compare.hpp"
#include "core/diff/met.hpp"
#include "core/limits/limits.hpp"

namespace ttcheck::diff {

/// Told without their bytes, of all that met, reported or not: of two traces, that is all.
limits::LimitContext context_of_pairs(const MetStep& met);

/// How many pairs tell whether the sides are copies of each other, and how many of them are equal.
std::pair<std::size_t, std::size_t> votes_of(const Work& work,
                                             std::span<const compare::Compared> compared);

/// After the first pass over the pairs.
limits::LimitContext context_of(const Work& work, std::span<const compare::Compared> compared,
                                bool trace);

}  // namespace ttcheck::diff
