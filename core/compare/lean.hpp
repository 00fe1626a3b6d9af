// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether the values of a tensor differ to one side.

#include <optional>

#include "core/compare/pair.hpp"
#include "core/compare/stop.hpp"

namespace ttcheck::compare {

/// What most values are off by, all to one side, as a part of each.
struct Lean {
  double median = 0;  ///< of b / a - 1
  double sure = 0;    ///< as much of it as is sure, by 5 standard deviations
};

/// The lean of the elements of core/compare/sampled.hpp. Errors that go either way leave it at 0,
/// however large they are. Zeros and what is not finite are left out; nothing of fewer than 256
/// values. REQUIRES has_real_values(pair). Throws Error, Stopped.
std::optional<Lean> lean_of(const Pair& pair, const Stop& stop = {});

}  // namespace ttcheck::compare
