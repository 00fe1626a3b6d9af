// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the limits need to know of all pairs of a step.

#include "core/diff/met.hpp"
#include "core/limits/limits.hpp"

namespace ttcheck::diff {

/// Told without their bytes, of all that met, reported or not: of two traces, that is all.
limits::LimitContext context_of_pairs(const MetStep& met);

/// Of two checkpoints: `work`, what manifests tell beside it, and what is not reported.
limits::LimitContext context_of(const Work& work, const Work& beside);

}  // namespace ttcheck::diff
