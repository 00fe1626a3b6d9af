// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a map of boxes says of each element, told without boxes.

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "core/align/box_map.hpp"

namespace ttcheck::tests {

/// Part, row-major place in the part, row-major place in the whole.
using Linked = std::vector<std::tuple<std::size_t, std::int64_t, std::int64_t>>;

/// Each element that a link names, as often as links do, by its place in the parts.
inline Linked linked(const align::BoxMap& map) {
  Linked all;
  for (const align::Link& link : map.links) {
    Shape sizes;
    for (const align::Loop& loop : link.loops) sizes.push_back(loop.size);
    for (std::int64_t i = 0; i < element_count(sizes); ++i) {
      const Extents at = unravel(sizes, i);
      Extents part = link.part_start, whole = link.whole_start;
      for (std::size_t l = 0; l < link.loops.size(); ++l) {
        const align::Loop& loop = link.loops[l];
        if (loop.part_axis != align::kNoAxis) part[loop.part_axis] += at[l] * loop.part_step;
        if (loop.whole_axis != align::kNoAxis) whole[loop.whole_axis] += at[l] * loop.whole_step;
      }
      all.emplace_back(link.part, linear_index(map.parts[link.part], part),
                       linear_index(map.whole, whole));
    }
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace ttcheck::tests
