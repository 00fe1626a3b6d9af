// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/place.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/assemble/flat.hpp"
#include "core/assemble/stretch.hpp"
#include "core/base/checked.hpp"

namespace ttcheck::assemble {
namespace {

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

/// Cells of a contiguous row of elements, seen through the record's own view of it.
std::vector<Cell> along_view(const Record& record, std::vector<Cell> cells) {
  if (record.piece.cells.empty()) return cells;
  const Cell& view = record.piece.cells.front();
  if (record.piece.cells.size() != 1 || view.box != whole(record.shape)) {
    throw Error("a flattened array must be one row of elements");
  }
  if (view.strides == row_major_strides(record.shape)) {
    for (Cell& cell : cells) cell.start += view.start;
    return cells;
  }
  if (view.strides.size() != 1) throw Error("a flattened array must be one row of elements");
  for (Cell& cell : cells) {
    cell.start = checked_add(view.start, checked_mul(cell.start, view.strides[0]));
    for (std::int64_t& stride : cell.strides) stride = checked_mul(stride, view.strides[0]);
  }
  return cells;
}

}  // namespace

std::vector<Cell> cells_of(const Member& member, const Plan& plan) {
  const Record& record = *member.record;
  if (plan.flattened) {
    return along_view(record, flat_cells(member.at, plan, element_count(record.shape)));
  }
  if (record.shape.size() != plan.dims.size()) {
    throw Error(fmt::format("the array has {} dimensions, others have {}", record.shape.size(),
                            plan.dims.size()));
  }
  return compose(record, product(grid(member.at, plan, &record.shape)));
}

std::vector<Cell> cells_at(const Record& record, const Extents& lo) {
  if (record.piece.cells.empty()) {
    std::vector<Cell> cells;
    if (std::ranges::find(record.shape, 0) != record.shape.end()) return cells;
    Cell& cell = cells.emplace_back();
    cell.box = {lo, record.shape};
    cell.strides = row_major_strides(record.shape);
    return cells;
  }
  Box local = whole(record.shape);
  return compose(record, {Placed{std::move(local), lo}});
}

std::vector<Cell> cells_of_range(const Record& record, const Extents& lo) {
  const auto& [block, begin] = *record.flat;
  const std::int64_t end = checked_add(begin, element_count(record.shape));
  if (begin < 0 || end > element_count(block)) {
    throw Error(fmt::format("elements [{}, {}) are not inside of a block of {}", begin, end,
                            element_count(block)));
  }
  std::vector<Cell> cells;
  for (Box& box : boxes_of_range(block, begin, end)) {
    Cell& cell = cells.emplace_back();
    cell.start = linear_index(block, box.lo) - begin;
    cell.strides = row_major_strides(block);
    for (std::size_t d = 0; d < lo.size(); ++d) box.lo[d] += lo[d];
    cell.box = std::move(box);
  }
  return along_view(record, std::move(cells));
}

std::vector<Box> boxes_at(const Extents& at, const Plan& plan) {
  std::vector<Box> boxes;
  if (plan.flattened) {
    for (Cell& cell : flat_cells(at, plan, -1)) boxes.push_back(std::move(cell.box));
    return boxes;
  }
  for (Placed& placed : product(grid(at, plan, nullptr))) {
    boxes.push_back({std::move(placed.global), std::move(placed.local.size)});
  }
  return boxes;
}

}  // namespace ttcheck::assemble
