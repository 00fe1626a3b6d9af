// SPDX-License-Identifier: Apache-2.0
#include "core/model/box.hpp"

#include <algorithm>

#include "core/base/checked.hpp"
#include "core/base/require.hpp"

namespace ttcheck {
namespace {

/// Appends the boxes of the linear range [begin, end) inside the sub-array that fixes the leading
/// indices `prefix`; `dim` is the first free dimension. Depth is the number of dimensions.
void append_range(const Shape& shape, const Extents& strides, Extents prefix, std::int64_t begin,
                  std::int64_t end, std::vector<Box>& out) {
  if (begin >= end) return;
  const std::size_t dim = prefix.size();
  const auto emit = [&](std::int64_t lo, std::int64_t count) {
    Box box{prefix, Extents(dim, 1)};
    box.lo.push_back(lo);
    box.size.push_back(count);
    for (std::size_t d = dim + 1; d < shape.size(); ++d) {
      box.lo.push_back(0);
      box.size.push_back(shape[d]);
    }
    out.push_back(std::move(box));
  };
  const std::int64_t stride = strides[dim];
  const auto descend = [&](std::int64_t row, std::int64_t from, std::int64_t to) {
    if (from == 0 && to == stride) return emit(row, 1);
    prefix.push_back(row);
    append_range(shape, strides, prefix, from, to, out);
    prefix.pop_back();
  };
  const std::int64_t first = begin / stride;
  const std::int64_t last = end / stride;  // rows [first, last) are touched, `last` only in part
  if (first == last) return descend(first, begin % stride, end % stride);
  std::int64_t row = first;
  if (begin % stride != 0) {
    descend(first, begin % stride, stride);
    ++row;
  }
  if (row < last) emit(row, last - row);
  if (end % stride != 0) descend(last, 0, end % stride);
}

}  // namespace

std::int64_t element_count(const Shape& shape) { return checked_product(shape); }

Extents row_major_strides(const Shape& shape) {
  Extents strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) {
    strides[d - 1] = checked_mul(strides[d], std::max<std::int64_t>(shape[d], 1));
  }
  return strides;
}

Box whole(const Shape& shape) { return {Extents(shape.size(), 0), shape}; }

std::int64_t volume(const Box& box) { return checked_product(box.size); }

bool contains(const Box& outer, const Box& inner) {
  for (std::size_t d = 0; d < outer.lo.size(); ++d) {
    if (inner.lo[d] < outer.lo[d]) return false;
    if (inner.lo[d] + inner.size[d] > outer.lo[d] + outer.size[d]) return false;
  }
  return true;
}

std::optional<Box> intersect(const Box& a, const Box& b) {
  require(a.lo.size() == b.lo.size(), "equal numbers of dimensions");
  Box common{Extents(a.lo.size()), Extents(a.lo.size())};
  for (std::size_t d = 0; d < a.lo.size(); ++d) {
    common.lo[d] = std::max(a.lo[d], b.lo[d]);
    common.size[d] = std::min(a.lo[d] + a.size[d], b.lo[d] + b.size[d]) - common.lo[d];
    if (common.size[d] <= 0) return std::nullopt;
  }
  return common;
}

std::vector<Box> subtract(const Box& box, const Box& hole) {
  const auto common = intersect(box, hole);
  if (!common) return {box};
  std::vector<Box> rest;
  Box core = box;
  for (std::size_t d = 0; d < box.lo.size(); ++d) {
    const std::int64_t before = common->lo[d] - core.lo[d];
    if (before > 0) {
      Box slab = core;
      slab.size[d] = before;
      rest.push_back(std::move(slab));
    }
    const std::int64_t end = common->lo[d] + common->size[d];
    const std::int64_t after = core.lo[d] + core.size[d] - end;
    if (after > 0) {
      Box slab = core;
      slab.lo[d] = end;
      slab.size[d] = after;
      rest.push_back(std::move(slab));
    }
    core.lo[d] = common->lo[d];
    core.size[d] = common->size[d];
  }
  return rest;
}

std::int64_t linear_index(const Shape& shape, const Extents& index) {
  std::int64_t linear = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) linear = linear * shape[d] + index[d];
  return linear;
}

Extents unravel(const Shape& shape, std::int64_t linear) {
  Extents index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = linear % shape[d];
    linear /= shape[d];
  }
  return index;
}

std::vector<Box> boxes_of_range(const Shape& shape, std::int64_t begin, std::int64_t end) {
  std::vector<Box> boxes;
  if (begin >= end) return boxes;
  if (shape.empty()) {
    boxes.push_back({});
  } else {
    append_range(shape, row_major_strides(shape), {}, begin, end, boxes);
  }
  return boxes;
}

}  // namespace ttcheck
