// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gates of ReLU: what is not positive is let through by nothing, and its gradient is zero. A value
// that is zero but for round-off is on either side of that by chance, and all of the gradient is
// there in one of two correct runs and nothing in the other.

#include <cstdint>
#include <optional>

#include "core/compare/pair.hpp"
#include "core/compare/stop.hpp"
#include "core/compare/turned.hpp"

namespace ttcheck::compare {

/// What gates that are open on one side alone make of the difference of a gradient behind them:
/// `values` are what goes into the gates, or what comes out of them. Nothing where `gradient` does
/// not stand directly behind them, which shows itself: on each side it is zero, to the bit, where
/// the value is not positive. Nothing either where a shape or a size is not the same, a dtype is
/// complex, a side has holes or is not kept, or names are mapped. Reads each of the four once, and
/// where it is none seldom more than its first elements. Throws Error, Stopped.
std::optional<Gated> gated(const Pair& values, const Pair& gradient, const Stop& stop = {});

}  // namespace ttcheck::compare
