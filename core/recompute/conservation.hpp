// SPDX-License-Identifier: Apache-2.0
#pragma once
// What came out of a collective against what went in.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/recompute/collective.hpp"

namespace ttcheck::recompute {

/// The element that is furthest off of those beyond what rounding allows, over all copies of the
/// output.
struct Conservation {
  double error = 0;         ///< |came out - went in| there; infinite where one is not finite
  double limit = 0;         ///< what rounding allows there
  double ratio = 0;         ///< error / limit there; infinite for a zero limit
  std::int64_t index = -1;  ///< of Collective::output; -1: all are as they should be
  std::vector<std::int32_t> ranks;  ///< that got something else, ascending
  std::vector<std::int32_t> group;  ///< that took part, as far as known, ascending

  bool broken() const { return ratio > 1; }
};

/// A sum of n addends x in any order, each partial sum rounded to the stored type, is off by at
/// most n eps times the sum of |x| (Higham, Accuracy and Stability of Numerical Algorithms, 4.2:
/// (n - 1) u, u = eps / 2, and one rounding to store it), and infinite where a partial sum may be
/// too large for the type; what only moves, or is a largest value, by nothing unless the type
/// changes. Nothing where it would take more than `budget` elements,
/// which what is read is taken from, where copies of what went in differ, where bytes cannot be
/// read or `stop` came true. The result does not depend on threads.
std::optional<Conservation> conservation_of(const Collective& collective, double& budget,
                                            const std::function<bool()>& stop);

}  // namespace ttcheck::recompute
