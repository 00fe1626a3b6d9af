// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/coverage.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/error_of.hpp"

namespace ttcheck::assemble {
namespace {

using tests::error_of;
using Two = std::pair<std::size_t, std::size_t>;

constexpr const char* kTooScattered = "the pieces are too many and too scattered to check";

auto checked(const Shape& shape, const std::vector<Box>& boxes,
             std::int64_t steps = kMaxCoverageSteps) {
  std::vector<const Box*> list;
  for (const Box& box : boxes) list.push_back(&box);
  return check_coverage(shape, list, steps);
}

/// Row-major places of the elements in boxes, ascending, one as often as it is there.
Extents places(const Shape& shape, const std::vector<Box>& boxes) {
  Extents list;
  for (const Box& box : boxes) {
    for (std::int64_t i = 0; i < volume(box); ++i) {
      Extents index = unravel(box.size, i);
      for (std::size_t d = 0; d < index.size(); ++d) index[d] += box.lo[d];
      list.push_back(linear_index(shape, index));
    }
  }
  std::ranges::sort(list);
  return list;
}

TEST_CASE("overlaps and holes of boxes in a shape") {
  struct Row {
    std::string what;
    Shape shape;
    std::vector<Box> boxes;
    std::optional<Two> overlap;
    Extents open;
  };
  const std::vector<Row> rows = {
      {"all in one", {2, 3}, {{{0, 0}, {2, 3}}}, {}, {}},
      {"no box", {2, 2}, {}, {}, {0, 1, 2, 3}},
      {"no elements", {0, 3}, {}, {}, {}},
      {"no elements twice", {0, 3}, {{{0, 0}, {0, 3}}, {{0, 0}, {0, 3}}}, {}, {}},
      {"a number", {}, {{}}, {}, {}},
      {"no number", {}, {}, {}, {0}},
      {"a number twice", {}, {{}, {}}, Two{0, 1}, {}},
      {"rows, the last first", {3, 2}, {{{2, 0}, {1, 2}}, {{0, 0}, {2, 2}}}, {}, {}},
      {"columns", {2, 3}, {{{0, 0}, {2, 1}}, {{0, 1}, {2, 2}}}, {}, {}},
      {"the first row is open", {3, 2}, {{{1, 0}, {2, 2}}}, {}, {0, 1}},
      {"the last row is open", {3, 2}, {{{0, 0}, {2, 2}}}, {}, {4, 5}},
      {"between two", {4}, {{{3}, {1}}, {{0}, {1}}}, {}, {1, 2}},
      {"a ring", {3, 3}, {{{1, 1}, {1, 1}}}, {}, {0, 1, 2, 3, 5, 6, 7, 8}},
      {"side by side in rows that both cross",
       {3, 4},
       {{{0, 0}, {2, 2}}, {{1, 2}, {2, 2}}},
       {},
       {2, 3, 8, 9}},
      {"one element in two", {5}, {{{0}, {3}}, {{2}, {3}}}, Two{0, 1}, {}},
      {"as many elements as there are, one twice", {4}, {{{0}, {2}}, {{1}, {2}}}, Two{0, 1}, {3}},
      {"the later one first", {4}, {{{1}, {3}}, {{0}, {2}}}, Two{0, 1}, {}},
      {"the same box three times", {2}, {{{0}, {2}}, {{0}, {2}}, {{0}, {2}}}, Two{0, 1}, {}},
      {"a long one under the third", {6}, {{{0}, {6}}, {{4}, {2}}, {{1}, {2}}}, Two{0, 2}, {}},
      {"in a corner", {3, 3}, {{{0, 0}, {2, 2}}, {{1, 1}, {2, 2}}}, Two{0, 1}, {2, 6}},
      {"beyond one that has ended",
       {4, 2},
       {{{0, 0}, {1, 2}}, {{1, 0}, {3, 1}}, {{1, 1}, {2, 1}}, {{2, 1}, {2, 1}}},
       Two{2, 3},
       {}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const auto found = checked(row.shape, row.boxes);
    CHECK(found.overlap == row.overlap);
    CHECK(places(row.shape, found.holes) == row.open);
  }
}

/// `count` boxes of `size`, one every `step` along `dim`.
std::vector<Box> line_of(std::int64_t count, std::size_t dim, std::int64_t step,
                         const Shape& size) {
  std::vector<Box> boxes;
  for (std::int64_t i = count; i-- > 0;) {
    boxes.push_back({Extents(size.size(), 0), size});
    boxes.back().lo[dim] = i * step;
  }
  return boxes;
}

TEST_CASE("boxes in a line take few steps, whichever way it runs; no more are taken than allowed") {
  constexpr std::int64_t kMany = 100;
  for (std::size_t dim = 0; dim < 3; ++dim) {
    INFO("along ", dim);
    Shape size{1, 1, 1};
    Shape shape = size;
    shape[dim] = 2 * kMany;
    size[dim] = 2;
    const std::vector<Box> full = line_of(kMany, dim, 2, size);
    CHECK_FALSE(checked(shape, full, kMany - 1).overlap);  // each beside the one before it
    CHECK(checked(shape, full, kMany - 1).holes.empty());
    CHECK(error_of([&] { checked(shape, full, kMany - 2); }) == kTooScattered);
    size[dim] = 1;
    const std::vector<Box> half = line_of(kMany, dim, 2, size);
    // Then for each box one, and one for each of what was open: first 1, 1, from then on the hole
    // before the box and all behind it.
    constexpr std::int64_t kSteps = kMany - 1 + 2 * 2 + 3 * (kMany - 2);
    CHECK(checked(shape, half, kSteps).holes.size() == kMany);
    CHECK(error_of([&] { checked(shape, half, kSteps - 1); }) == kTooScattered);
  }
}

TEST_CASE("boxes may hold more elements together than can be counted") {
  constexpr std::int64_t kHuge = INT64_C(1) << 62;
  const std::vector<Box> boxes(3, Box{{0}, {kHuge}});
  CHECK(checked({kHuge}, boxes, 9).overlap == Two{0, 1});
  CHECK(checked({kHuge}, boxes, 9).holes.empty());
}

TEST_CASE("where there are no elements, any number of boxes takes no step") {
  const std::vector<Box> boxes(50, Box{{0, 0}, {3, 0}});
  CHECK_FALSE(checked({3, 0}, boxes, 0).overlap);
  CHECK(checked({3, 0}, boxes, 0).holes.empty());
}

TEST_CASE("boxes that all lie under the front are compared each with each") {
  std::vector<Box> boxes;  // columns that start one row further down each, all to the last row
  for (std::int64_t i = 0; i < 9; ++i) boxes.push_back({{i, i}, {9 - i, 1}});
  for (std::int64_t d = 1; d < 9; ++d) boxes.push_back({{0, d}, {d, 1}});  // and what is above
  const Shape shape{9, 9};
  // Nine start at row 0, then one at each row beside nine, of which one ends there.
  constexpr std::int64_t kSteps = 9 * 8 / 2 + 8 * 9;
  CHECK(checked(shape, boxes, kSteps).holes.empty());
  CHECK(error_of([&] { checked(shape, boxes, kSteps - 1); }) == kTooScattered);
}

}  // namespace
}  // namespace ttcheck::assemble
