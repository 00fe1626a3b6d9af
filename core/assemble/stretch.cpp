// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/stretch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"

namespace ttcheck::assemble {

std::vector<Stretch> stretches(const Ranges& ranges, std::int64_t length, bool padded) {
  std::vector<Stretch> list;
  std::int64_t local = 0;
  for (const Range& range : ranges) {
    const std::int64_t real = std::max(std::min(range.end, length) - range.begin, std::int64_t{0});
    if (real > 0) list.push_back({local, range.begin, real});
    local += padded ? range.size() : real;
  }
  return list;
}

std::int64_t total(const std::vector<Stretch>& list) {
  std::int64_t sum = 0;
  for (const Stretch& one : list) sum += one.size;
  return sum;
}

std::vector<std::vector<Stretch>> grid(const Extents& at, const Plan& plan, const Shape* shape) {
  std::vector<std::vector<Stretch>> dims;
  for (std::size_t d = 0; d < plan.dims.size(); ++d) {
    const DimPlan& dim = plan.dims[d];
    const Ranges ranges = ranges_at(dim, plan.axes, at);
    const std::int64_t room = total(ranges);
    auto list = stretches(ranges, dim.length, true);
    if (shape != nullptr && (*shape)[d] != room) {
      const std::int64_t held = (*shape)[d];
      if (held == total(list)) {
        list = stretches(ranges, dim.length, false);
      } else if (held < room || !(plan.stated || dim.stored > dim.length)) {
        throw Error(
            fmt::format("dimension {} has {} here, expected {} of {}", d, held, room, dim.length));
      }
    }
    dims.push_back(std::move(list));
  }
  return dims;
}

Shape padded_shape(const Extents& at, const Plan& plan) {
  Shape shape;
  for (const DimPlan& dim : plan.dims) shape.push_back(total(ranges_at(dim, plan.axes, at)));
  return shape;
}

std::vector<Placed> product(const std::vector<std::vector<Stretch>>& dims) {
  std::size_t count = 1;
  for (const auto& list : dims) {
    if (__builtin_mul_overflow(count, list.size(), &count) || count > kMaxCells) {
      throw Error(fmt::format("a piece is cut into more than {} boxes", kMaxCells));
    }
  }
  std::vector<Placed> boxes(count);
  for (std::size_t i = 0; i < count; ++i) {
    Placed& placed = boxes[i];
    placed.local = {Extents(dims.size()), Extents(dims.size())};
    placed.global.resize(dims.size());
    std::size_t rest = i;
    for (std::size_t d = dims.size(); d-- > 0;) {
      const Stretch& one = dims[d][rest % dims[d].size()];
      rest /= dims[d].size();
      placed.local.lo[d] = one.local;
      placed.local.size[d] = one.size;
      placed.global[d] = one.global;
    }
  }
  return boxes;
}

}  // namespace ttcheck::assemble
