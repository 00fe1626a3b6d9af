// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many updates of its weights an optimizer counted.

#include <span>

#include "core/compare/compare.hpp"
#include "core/diff/work.hpp"

namespace ttcheck::diff {

/// Those of the parameter that has most behind it, as the reference's step counters say; 0 where
/// none was compared. A counter is one number, positive or zero.
double counted_updates(const Work& work, std::span<const compare::Compared> compared);

}  // namespace ttcheck::diff
