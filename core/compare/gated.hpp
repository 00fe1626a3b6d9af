// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gates of ReLU: what is not positive is let through by nothing, and its gradient is zero. A value
// that is zero but for round-off is on either side of that by chance, and all of the gradient is
// there in one of two correct runs and nothing in the other.

#include <cstdint>
#include <optional>

#include "core/compare/pair.hpp"
#include "core/compare/stop.hpp"

namespace ttcheck::compare {

/// What gates that are open on one side alone make of the difference of a gradient behind them.
struct Gated {
  std::int64_t turned = 0;  ///< how many are
  double rel = 0;           ///< ||B - A|| of these / ||A|| of all
  double row = 0;           ///< of the worst row: ||B - A|| of these in it / rms row norm of A
  double outlier = 0;       ///< largest |b - a| of these / rms of A
};

/// `values` are what goes into the gates, or what comes out of them. Nothing where `gradient` does
/// not stand directly behind them, which shows itself: on each side it is zero, to the bit, where
/// the value is not positive. Nothing either where a shape or a size is not the same, a dtype is
/// complex, a side has holes or is not kept, or names are mapped. Reads each of the four once, and
/// where it is none seldom more than its first elements. Throws Error, Stopped.
std::optional<Gated> gated(const Pair& values, const Pair& gradient, const Stop& stop = {});

}  // namespace ttcheck::compare
