// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/place.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/assemble/stretch.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/plan_of.hpp"

namespace ttcheck::assemble {
namespace {

using tests::error_of;
using tests::plan_of;
using Cells = std::vector<Cell>;

constexpr std::int64_t kMost = INT64_MAX;

Record record_of(Shape shape, Cells own = {}) {
  Record record;
  record.shape = std::move(shape);
  record.piece.cells = std::move(own);
  return record;
}

TEST_CASE("the cells of a rank's array under a plan") {
  struct Row {
    std::string what;
    std::string line;
    Shape logical, stored;
    Extents at;
    Record record;
    Cells cells;
  };
  const Cells columns = {{{{0, 0}, {4, 3}}, 5, {1, 4}}};  // stored column by column
  const Cells halves = {{{{0, 0}, {3, 3}}, 9, {3, 1}}, {{{3, 0}, {1, 3}}, 0, {3, 1}}};
  const std::vector<Row> rows = {
      {"a number", "", {}, {}, {0}, record_of({}), {{{{}, {}}, 0, {}}}},
      {"rows", "x[tp] y", {4, 3}, {4, 3}, {1}, record_of({2, 3}), {{{{2, 0}, {2, 3}}, 0, {3, 1}}}},
      {"two ranges of rows",
       "x[tp:zigzag] y",
       {8, 3},
       {8, 3},
       {0},
       record_of({4, 3}),
       {{{{0, 0}, {2, 3}}, 0, {3, 1}}, {{{6, 0}, {2, 3}}, 6, {3, 1}}}},
      {"two ranges, column by column",
       "x[tp:zigzag] y",
       {8, 3},
       {8, 3},
       {0},
       record_of({4, 3}, columns),
       {{{{0, 0}, {2, 3}}, 5, {1, 4}}, {{{6, 0}, {2, 3}}, 7, {1, 4}}}},
      {"two ranges, in two parts of the storage",
       "x[tp:zigzag] y",
       {8, 3},
       {8, 3},
       {0},
       record_of({4, 3}, halves),
       {{{{0, 0}, {2, 3}}, 9, {3, 1}},
        {{{6, 0}, {1, 3}}, 15, {3, 1}},
        {{{7, 0}, {1, 3}}, 0, {3, 1}}}},
      {"of which one part was not kept",
       "x[tp:zigzag] y",
       {8, 3},
       {8, 3},
       {0},
       record_of({4, 3}, {{{{3, 1}, {1, 2}}, 4, {9, 2}}}),
       {{{{7, 1}, {1, 2}}, 4, {9, 2}}}},
      {"padding behind", "x[tp]", {5}, {8}, {1}, record_of({4}), {{{{4}, {1}}, 0, {1}}}},
      {"padding alone", "x[tp]", {4}, {8}, {1}, record_of({4}), {}},
      {"an empty shard", "x[tp]", {1}, {1}, {1}, record_of({0}), {}},
      {"flattened",
       "flat[tp]",
       {2, 3},
       {2, 3},
       {1},
       record_of({3}),
       {{{{1, 0}, {1, 3}}, 0, {3, 1}}}},
      {"flattened, without the padding",
       "flat[tp:sizes=4/4]",
       {6},
       {6},
       {1},
       record_of({2}),
       {{{{4}, {2}}, 0, {1}}}},
      {"flattened, each second number",
       "flat[tp]",
       {2, 3},
       {2, 3},
       {1},
       record_of({3}, {{{{0}, {3}}, 7, {2}}}),
       {{{{1, 0}, {1, 3}}, 7, {6, 2}}}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const Plan plan = plan_of({{"tp", 2}}, row.line, row.logical, row.stored);
    CHECK(cells_of({&row.record, row.at}, plan) == row.cells);
  }
}

TEST_CASE("arrays that do not match a plan") {
  struct Row {
    std::string line;
    Record record;
    std::string message;
  };
  const std::vector<Row> rows = {
      {"x[tp] y", record_of({6}), "the array has 1 dimensions, others have 2"},
      {"x[tp] y", record_of({1, 3, 1}), "the array has 3 dimensions, others have 2"},
      {"x[tp] y", record_of({2, 3}), "dimension 0 has 2 here, expected 1 of 2"},
      {"flat[tp]", record_of({2}), "2 elements here, expected 3 of 6"},
      {"flat[tp]", record_of({2, 1}), "2 elements here, expected 3 of 6"},
  };
  for (const Row& row : rows) {
    INFO(row.message);
    const Plan plan = plan_of({{"tp", 2}}, row.line, {2, 3});
    CHECK(error_of([&] { cells_of({&row.record, {0}}, plan); }) == row.message);
  }
}

TEST_CASE("no more cells than a piece may have, over all its views") {
  const auto made = [](std::int64_t ranges) {
    const Cell all{{{0}, {ranges}}, 0, {1}};
    const Record record = record_of({ranges}, {all, all});
    const Plan plan = plan_of({{"tp", 2}}, "x[tp:interleave=1]", {2 * ranges});
    return cells_of({&record, {0}}, plan).size();
  };
  CHECK(made(1 << 17) == kMaxCells);
  CHECK(error_of([&] { made((1 << 17) + 1); }) == "a piece is cut into more than 262144 boxes");
}

TEST_CASE("the cells of an array at its place") {
  struct Row {
    std::string what;
    Record record;
    Extents lo;
    Cells cells;
  };
  const std::vector<Row> rows = {
      {"a number", record_of({}), {}, {{{{}, {}}, 0, {}}}},
      {"rows of a table", record_of({2, 3}), {4, 1}, {{{{4, 1}, {2, 3}}, 0, {3, 1}}}},
      {"nothing in the first dimension", record_of({0, 3}), {4, 1}, {}},
      {"nothing in the last", record_of({2, 0}), {4, 1}, {}},
      {"a view",
       record_of({2, 3}, {{{{0, 0}, {2, 3}}, 5, {1, 2}}}),
       {4, 1},
       {{{{4, 1}, {2, 3}}, 5, {1, 2}}}},
      {"what was kept of it",
       record_of({2, 3}, {{{{1, 1}, {1, 2}}, 5, {1, 2}}, {{{0, 0}, {1, 1}}, 9, {1, 2}}}),
       {4, 1},
       {{{{5, 2}, {1, 2}}, 5, {1, 2}}, {{{4, 1}, {1, 1}}, 9, {1, 2}}}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(cells_at(row.record, row.lo) == row.cells);
  }
}

Record row_of(std::int64_t begin, Shape shape, Cells own = {}, Shape block = {3, 4}) {
  Record record = record_of(std::move(shape), std::move(own));
  record.flat = FlatRange{std::move(block), begin};
  return record;
}

TEST_CASE("the cells of a row of elements out of a block") {
  struct Row {
    std::string what;
    Record record;
    Cells cells;
  };
  const std::vector<Row> rows = {
      // the block lies at [1, 2]
      {"the first", row_of(0, {1}), {{{{1, 2}, {1, 1}}, 0, {4, 1}}}},
      {"all", row_of(0, {12}), {{{{1, 2}, {3, 4}}, 0, {4, 1}}}},
      {"over the end of a row",
       row_of(5, {4}),
       {{{{2, 3}, {1, 3}}, 0, {4, 1}}, {{{3, 2}, {1, 1}}, 3, {4, 1}}}},
      {"the last", row_of(11, {1}), {{{{3, 5}, {1, 1}}, 0, {4, 1}}}},
      {"none", row_of(5, {0}), {}},
      {"none at the end", row_of(12, {0}), {}},
      {"later in its storage",
       row_of(5, {4}, {{{{0}, {4}}, 7, {1}}}),
       {{{{2, 3}, {1, 3}}, 7, {4, 1}}, {{{3, 2}, {1, 1}}, 10, {4, 1}}}},
      {"in rows of its own",
       row_of(5, {2, 2}, {{{{0, 0}, {2, 2}}, 7, {2, 1}}}),
       {{{{2, 3}, {1, 3}}, 7, {4, 1}}, {{{3, 2}, {1, 1}}, 10, {4, 1}}}},
      {"each third of its storage",
       row_of(5, {4}, {{{{0}, {4}}, 7, {3}}}),
       {{{{2, 3}, {1, 3}}, 7, {12, 3}}, {{{3, 2}, {1, 1}}, 16, {12, 3}}}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(cells_of_range(row.record, {1, 2}) == row.cells);
  }
  CHECK(cells_of_range(row_of(0, {1}, {}, {}), {}) == Cells{{{{}, {}}, 0, {}}});
}

TEST_CASE("rows that are not in the block, or no rows") {
  struct Row {
    std::string what;
    Record record;
    std::string message;
  };
  const char* const no_row = "a flattened array must be one row of elements";
  const Cell half{{{0}, {2}}, 0, {1}};
  const std::vector<Row> rows = {
      {"before", row_of(-1, {2}), "elements [-1, 1) are not inside of a block of 12"},
      {"behind", row_of(9, {4}), "elements [9, 13) are not inside of a block of 12"},
      {"beyond all numbers", row_of(kMost, {4}), "sum overflows"},
      {"in two", row_of(0, {4}, {half, {{{2}, {2}}, 2, {1}}}), no_row},
      {"half of it", row_of(0, {4}, {half}), no_row},
      {"turned", row_of(0, {2, 2}, {{{{0, 0}, {2, 2}}, 0, {1, 2}}}), no_row},
      {"far apart", row_of(0, {12}, {{{{0}, {12}}, 0, {kMost}}}), "product overflows"},
      {"far from the first", row_of(0, {1}, {{{{0}, {1}}, 3, {kMost / 4 + 1}}}),
       "product overflows"},
      {"far behind", row_of(11, {1}, {{{{0}, {1}}, kMost, {2}}}), ""},
      {"further behind", row_of(3, {2}, {{{{0}, {2}}, kMost, {2}}}), "sum overflows"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(error_of([&] { cells_of_range(row.record, {0, 0}); }) == row.message);
  }
}

TEST_CASE("the boxes that coordinates hold, whatever is stored") {
  struct Row {
    std::string line;
    Extents at;
    std::vector<Box> boxes;
  };
  const std::vector<Row> rows = {
      {"x y", {0}, {{{0, 0}, {4, 3}}}},
      {"x[tp] y", {1}, {{{2, 0}, {2, 3}}}},
      {"x[tp:zigzag] y", {0}, {{{0, 0}, {1, 3}}, {{3, 0}, {1, 3}}}},
      {"x[tp:interleave=1] y[cp]", {1, 1}, {{{1, 2}, {1, 1}}, {{3, 2}, {1, 1}}}},
      {"flat[tp]", {1}, {{{2, 0}, {2, 3}}}},
      {"flat[tp:sizes=5/7]", {0}, {{{0, 0}, {1, 3}}, {{1, 0}, {1, 2}}}},
  };
  for (const Row& row : rows) {
    INFO(row.line);
    CHECK(boxes_at(row.at, plan_of({{"tp", 2}, {"cp", 2}}, row.line, {4, 3})) == row.boxes);
  }
}

}  // namespace
}  // namespace ttcheck::assemble
