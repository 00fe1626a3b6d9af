#include "core/assemble/place.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/checked.hpp"

namespace ttcheck::assemble {
namespace {

/// A stretch of one dimension: `size` indices from `local` of the array are those from `global`.
struct Stretch {
  std::int64_t local = 0;
  std::int64_t global = 0;
  std::int64_t size = 0;
};

/// A box of the array and where it starts in the logical tensor.
struct Placed {
  Box local;
  Extents global;
};

/// Logical indices of `ranges` in storage order; padding takes room only where `padded`.
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

/// All combinations of one stretch a dimension, the last dimension fastest.
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

/// The record's own cells (one for a plain array), seen through boxes of its array.
std::vector<Cell> compose(const Record& record, const std::vector<Placed>& boxes) {
  std::vector<Cell> own = record.piece.cells;
  if (own.empty()) own.push_back({whole(record.shape), 0, row_major_strides(record.shape)});
  std::vector<Cell> cells;
  for (const Placed& placed : boxes) {
    for (const Cell& cell : own) {
      const auto common = intersect(cell.box, placed.local);
      if (!common) continue;
      if (cells.size() == kMaxCells) {
        throw Error(fmt::format("a piece is cut into more than {} boxes", kMaxCells));
      }
      Cell& out = cells.emplace_back();
      out.box = *common;
      out.start = cell.start;
      out.strides = cell.strides;
      for (std::size_t d = 0; d < common->lo.size(); ++d) {
        out.start += (common->lo[d] - cell.box.lo[d]) * cell.strides[d];
        out.box.lo[d] = common->lo[d] - placed.local.lo[d] + placed.global[d];
      }
    }
  }
  return cells;
}

/// Stretches of each dimension for an array of `shape` (or of whatever shape, when null).
std::vector<std::vector<Stretch>> grid(const Extents& at, const Plan& plan, const Shape* shape) {
  std::vector<std::vector<Stretch>> dims;
  for (std::size_t d = 0; d < plan.dims.size(); ++d) {
    const DimPlan& dim = plan.dims[d];
    const Ranges ranges = ranges_at(dim, plan.axes, at);
    auto list = stretches(ranges, dim.length, true);
    if (shape != nullptr && (*shape)[d] != assemble::total(ranges)) {
      const std::int64_t held = (*shape)[d];
      if (held == total(list)) {
        list = stretches(ranges, dim.length, false);
      } else if (held < assemble::total(ranges) || !(plan.stated || dim.stored > dim.length)) {
        throw Error(fmt::format("dimension {} has {} here, its place in {} is {}", d, held,
                                dim.length, assemble::total(ranges)));
      }
    }
    dims.push_back(std::move(list));
  }
  return dims;
}

}  // namespace

std::vector<Cell> cells_of(const Member& member, const Plan& plan) {
  const Record& record = *member.record;
  if (record.shape.size() != plan.dims.size()) {
    throw Error(fmt::format("the array has {} dimensions, others have {}", record.shape.size(),
                            plan.dims.size()));
  }
  return compose(record, product(grid(member.at, plan, &record.shape)));
}

std::vector<Cell> cells_at(const Record& record, const Extents& lo) {
  Box local = whole(record.shape);
  return compose(record, {Placed{std::move(local), lo}});
}

std::vector<Box> boxes_at(const Extents& at, const Plan& plan) {
  std::vector<Box> boxes;
  for (Placed& placed : product(grid(at, plan, nullptr))) {
    boxes.push_back({std::move(placed.global), std::move(placed.local.size)});
  }
  return boxes;
}

}  // namespace ttcheck::assemble
