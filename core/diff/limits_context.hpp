// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the limits need to know of all pairs of a step.

#include "core/diff/met.hpp"
#include "core/limits/limits.hpp"

namespace ttcheck::diff {

/// What all pairs that met tell without their bytes, reported or not: of two traces, that is all.
limits::LimitContext context_of_pairs(const MetStep& met);

/// What the pairs of two checkpoints tell: `work`, what manifests tell beside it, and what is not
/// reported.
limits::LimitContext context_of(const Work& work, const Work& beside);

}  // namespace ttcheck::diff
