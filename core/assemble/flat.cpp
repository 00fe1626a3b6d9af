// SPDX-License-Identifier: Apache-2.0
// Three index spaces: the positions of the flat order, padded to its total and cut over the axes;
// the rank's own part, whose row-major order that is; and the logical tensor, which the part's dims
// place. A range of positions is a few boxes of the part; each box is cut where a dimension of the
// part jumps.

#include "core/assemble/flat.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/assemble/stretch.hpp"
#include "core/base/checked.hpp"

namespace ttcheck::assemble {
namespace {

/// Length of the flat order with its padding, as it is cut.
std::int64_t flat_total(const Extents& at, const Plan& plan, std::int64_t length) {
  if (plan.flat_align) {
    return checked_mul(ceil_div(length, *plan.flat_align), *plan.flat_align);
  }
  std::int64_t sum = 0;
  if (!plan.flat.empty() && !plan.flat.front().spec.sizes.empty()) {
    for (const std::int64_t size : plan.flat.front().spec.sizes) sum = checked_add(sum, size);
    return std::max(length, sum);
  }
  Extents group;
  for (const std::size_t axis : plan.flat_group) group.push_back(at[axis]);
  const auto found = plan.flat_totals.find(group);
  return found == plan.flat_totals.end() ? length : std::max(length, found->second);
}

/// The part of a list of stretches that lies in [begin, end) of the array.
std::vector<Stretch> clip(const std::vector<Stretch>& list, std::int64_t begin, std::int64_t end) {
  std::vector<Stretch> part;
  auto one = std::partition_point(list.begin(), list.end(), [&](const Stretch& stretch) {
    return stretch.local + stretch.size <= begin;
  });
  for (; one != list.end() && one->local < end; ++one) {
    const std::int64_t from = std::max(begin, one->local);
    const std::int64_t to = std::min(end, one->local + one->size);
    part.push_back({from, one->global + (from - one->local), to - from});
  }
  return part;
}

}  // namespace

std::vector<Cell> flat_cells(const Extents& at, const Plan& plan, std::int64_t held) {
  const auto dims = grid(at, plan, nullptr);
  const Shape part = padded_shape(at, plan);
  const Extents strides = row_major_strides(part);
  const std::int64_t length = element_count(part);
  Ranges ranges;
  append(ranges, {0, flat_total(at, plan, length)});
  for (const Shard& shard : plan.flat) {
    ranges = cut(ranges, shard.spec, plan.axes[shard.axis].n, at[shard.axis]);
  }
  const std::int64_t room = total(ranges);
  auto list = stretches(ranges, length, true);
  if (held >= 0 && held < room) {
    if (held != total(list)) {
      throw Error(fmt::format("{} elements here, expected {} of {}", held, room, length));
    }
    list = stretches(ranges, length, false);
  }
  std::vector<Cell> cells;
  for (const Stretch& range : list) {
    for (const Box& box : boxes_of_range(part, range.global, range.global + range.size)) {
      std::vector<std::vector<Stretch>> inside;
      for (std::size_t d = 0; d < part.size(); ++d) {
        inside.push_back(clip(dims[d], box.lo[d], box.lo[d] + box.size[d]));
      }
      for (Placed& placed : product(inside)) {
        if (cells.size() == kMaxCells) {
          throw Error(fmt::format("a piece is cut into more than {} boxes", kMaxCells));
        }
        const std::int64_t first = linear_index(part, placed.local.lo);
        cells.push_back({{std::move(placed.global), std::move(placed.local.size)},
                         range.local + (first - range.global),
                         strides});
      }
    }
  }
  return cells;
}

}  // namespace ttcheck::assemble
