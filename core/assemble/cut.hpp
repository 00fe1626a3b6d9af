// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cutting one dimension over one mesh axis: which indices a coordinate holds, in the order in which
// it stores them.

#include <cstdint>
#include <vector>

#include "core/model/placement.hpp"

namespace ttcheck::assemble {

/// Half-open range of indices of one dimension.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

/// Indices of one dimension in storage order: none empty, neighbours that continue are one.
using Ranges = std::vector<Range>;

/// No more ranges than this for one dimension of one piece.
inline constexpr std::size_t kMaxRanges = std::size_t{1} << 18;

std::int64_t total(const Ranges& ranges);

/// Appends a range; joins it to the last when it continues it. Throws Error beyond kMaxRanges.
void append(Ranges& ranges, Range next);

/// The elements at the positions `at` (ascending) of the list; positions beyond its end are left
/// out.
Ranges select(const Ranges& ranges, const Ranges& at);

/// What coordinate `r` of `n` holds of `ranges` under the mod of `spec` (axis, pad, align and
/// partial are not looked at): contiguous chunks by the ceiling rule unless it says otherwise.
/// Throws Error when `even` does not divide or `sizes` do not fit. REQUIRES 0 <= r < n.
Ranges cut(const Ranges& ranges, const ShardSpec& spec, std::int64_t n, std::int64_t r);

}  // namespace ttcheck::assemble
