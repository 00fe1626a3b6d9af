// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether boxes fill a logical tensor: where they overlap, and what they leave open.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/model/box.hpp"

namespace ttcheck::assemble {

struct BoxCoverage {
  /// Two of the boxes that share elements, by index.
  std::optional<std::pair<std::size_t, std::size_t>> overlap;
  std::vector<Box> holes;  ///< disjoint, in no particular order
};

/// Looks at one box beside another that one check may take, so that scattered ones end in an Error,
/// not in a wait.
inline constexpr std::int64_t kMaxCoverageSteps = 40'000'000;

/// Checks boxes that lie inside `shape`. Takes n log n for boxes that lie in rows or columns.
/// Throws Error when they are too many and too scattered to check in so many steps.
BoxCoverage check_coverage(const Shape& shape, std::span<const Box* const> boxes,
                           std::int64_t steps = kMaxCoverageSteps);

}  // namespace ttcheck::assemble
