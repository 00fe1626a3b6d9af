// SPDX-License-Identifier: Apache-2.0
#pragma once
// Extents and boxes: the geometry that every layout is written in.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/extents.hpp"

namespace ttcheck {

/// Number of elements. Throws Error on a negative extent or overflow.
std::int64_t element_count(const Shape& shape);

/// Element strides of a contiguous row-major array of that shape.
Extents row_major_strides(const Shape& shape);

/// Half-open box [lo, lo + size) of index space; both have one number per dimension.
struct Box {
  Extents lo;
  Extents size;

  bool operator==(const Box&) const = default;
};

Box whole(const Shape& shape);
std::int64_t volume(const Box& box);
bool contains(const Box& outer, const Box& inner);

/// The common part, or nothing when it is empty. REQUIRES equal numbers of dimensions.
std::optional<Box> intersect(const Box& a, const Box& b);

/// `box` minus `hole`, as disjoint boxes (at most two per dimension).
std::vector<Box> subtract(const Box& box, const Box& hole);

/// Row-major linear index of `index` in `shape`, and back.
std::int64_t linear_index(const Shape& shape, const Extents& index);
Extents unravel(const Shape& shape, std::int64_t linear);

/// The linear range [begin, end) of a row-major array of `shape`, as at most 2n-1 boxes in order.
std::vector<Box> boxes_of_range(const Shape& shape, std::int64_t begin, std::int64_t end);

}  // namespace ttcheck
