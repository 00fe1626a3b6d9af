// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/flat.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
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

TEST_CASE("cells of a range of the row-major order") {
  struct Row {
    std::string what;
    Plan plan;
    Extents at;
    std::int64_t held;
    Cells cells;
  };
  const std::vector<AxisUse> dp = {{"dp", 2}};
  const std::vector<AxisUse> both = {{"tp", 2}, {"dp", 3}};
  const auto with_align = [&](std::int64_t align) {
    Plan plan = plan_of(dp, "flat[dp]", {3, 4});
    plan.flat_align = align;
    return plan;
  };
  const auto with_totals = [&](std::map<Extents, std::int64_t> totals) {
    Plan plan = plan_of({{"tp", 2}, {"dp", 2}}, "flat[dp]", {3, 4});
    plan.flat_group = {0};
    plan.flat_totals = std::move(totals);
    return plan;
  };
  const Cells first_half = {{{{0, 0}, {1, 4}}, 0, {4, 1}}, {{{1, 0}, {1, 2}}, 4, {4, 1}}};
  const Cells second_half = {{{{1, 2}, {1, 2}}, 0, {4, 1}}, {{{2, 0}, {1, 4}}, 2, {4, 1}}};
  const Cells last_row = {{{{2, 0}, {1, 4}}, 0, {4, 1}}};
  const Cells from_seven = {{{{1, 3}, {1, 1}}, 0, {4, 1}}, {{{2, 0}, {1, 4}}, 1, {4, 1}}};
  const Plan rows_of_tp = plan_of(both, "flat[dp] of x[tp:zigzag] y", {8, 3});
  const Plan padded = plan_of(both, "flat[dp] of x[tp] y", {5, 2}, {8, 2});
  const std::vector<Row> rows = {
      {"the first half", plan_of(dp, "flat[dp]", {3, 4}), {0}, -1, first_half},
      {"the second half", plan_of(dp, "flat[dp]", {3, 4}), {1}, -1, second_half},
      {"as many as there are", plan_of(dp, "flat[dp]", {3, 4}), {1}, 6, second_half},
      {"more than there are", plan_of(dp, "flat[dp]", {3, 4}), {1}, 7, second_half},
      {"a number", plan_of(dp, "flat[dp]", {}), {0}, 1, {{{{}, {}}, 0, {}}}},
      {"beyond a number", plan_of(dp, "flat[dp]", {}), {1}, 0, {}},
      {"nothing", plan_of(dp, "flat[dp]", {0, 4}), {0}, 0, {}},
      {"not cut",
       plan_of({{"dp", 1}}, "flat[dp]", {2, 2}),
       {0},
       4,
       {{{{0, 0}, {2, 2}}, 0, {2, 1}}}},
      {"aligned, with its padding", with_align(8), {1}, 8, last_row},
      {"aligned, without it", with_align(8), {1}, 4, last_row},
      {"aligned as it is", with_align(6), {1}, 6, second_half},
      {"aligned to more than all", with_align(24), {1}, 0, {}},
      {"sizes with padding", plan_of(dp, "flat[dp:sizes=7/9]", {3, 4}), {1}, 9, from_seven},
      {"sizes without it", plan_of(dp, "flat[dp:sizes=7/9]", {3, 4}), {1}, 5, from_seven},
      {"as long as the ranks hold", with_totals({{{0}, 12}, {{1}, 14}}), {1, 1}, 7, from_seven},
      {"no longer than the part", with_totals({{{0}, 12}, {{1}, 14}}), {0, 1}, 6, second_half},
      {"shorter than the part", with_totals({{{0}, 8}}), {0, 1}, 6, second_half},
      {"nobody of the group holds it", with_totals({{{0}, 14}}), {1, 1}, 6, second_half},
      {"a part that jumps",
       rows_of_tp,
       {0, 0},
       4,
       {{{{0, 0}, {1, 3}}, 0, {3, 1}}, {{{1, 0}, {1, 1}}, 3, {3, 1}}}},
      {"over the jump",
       rows_of_tp,
       {0, 1},
       4,
       {{{{1, 1}, {1, 2}}, 0, {3, 1}}, {{{6, 0}, {1, 2}}, 2, {3, 1}}}},
      {"behind the jump",
       rows_of_tp,
       {0, 2},
       4,
       {{{{6, 2}, {1, 1}}, 0, {3, 1}}, {{{7, 0}, {1, 3}}, 1, {3, 1}}}},
      {"the other rank's part",
       rows_of_tp,
       {1, 1},
       4,
       {{{{3, 1}, {1, 2}}, 0, {3, 1}}, {{{4, 0}, {1, 2}}, 2, {3, 1}}}},
      {"a part with padding", padded, {1, 0}, 3, {{{{4, 0}, {1, 2}}, 0, {2, 1}}}},
      {"of a part its padding", padded, {1, 2}, 2, {}},
      {"a part before the padding", padded, {0, 2}, 2, {{{{3, 0}, {1, 2}}, 0, {2, 1}}}},
      {"rows in one box",
       plan_of({{"dp", 1}, {"tp", 1}}, "flat[dp] of x[tp:zigzag] y", {2, 2}),
       {0, 0},
       4,
       {{{{0, 0}, {2, 2}}, 0, {2, 1}}}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(flat_cells(row.at, row.plan, row.held) == row.cells);
  }
}

TEST_CASE("one box of the part is as many cells as the part has jumps in it") {
  const Plan plan = plan_of({{"tp", 2}, {"dp", 1}}, "flat[dp] of x[tp:zigzag] y", {8, 3});
  CHECK(flat_cells({0, 0}, plan, 12) ==
        Cells{{{{0, 0}, {2, 3}}, 0, {3, 1}}, {{{6, 0}, {2, 3}}, 6, {3, 1}}});
}

TEST_CASE("rows of elements that do not fit") {
  struct Row {
    std::string line;
    std::int64_t held;
    std::string message;
  };
  const std::vector<Row> rows = {
      {"flat[dp:align=8]", 5, "5 elements here, expected 8 of 12"},
      {"flat[dp:align=8]", 3, "3 elements here, expected 8 of 12"},
      {"flat[dp:align=8]", 0, "0 elements here, expected 8 of 12"},
      {"flat[dp]", 5, "5 elements here, expected 6 of 12"},
      {"flat[dp:sizes=5/4]", 4, "sizes=5/4 add up to 9, the dimension has 12"},
      {"flat[dp:even]", 6, ""},
  };
  for (const Row& row : rows) {
    INFO(row.line, " ", row.held);
    Plan plan = plan_of({{"dp", 2}}, row.line, {3, 4});
    if (plan.flat.front().spec.align) plan.flat_align = 8;
    CHECK(error_of([&] { flat_cells({1}, plan, row.held); }) == row.message);
  }
}

TEST_CASE("no more cells than a piece may have, over all ranges") {
  // Four columns of single ones; a quarter of the rows at either end, each a box of its own.
  const auto made = [](std::int64_t pieces) {
    const Plan plan =
        plan_of({{"tp", 2}, {"cp", 2}, {"dp", 2}},
                "flat[dp:zigzag] of x[tp:interleave=1] y[cp:interleave=1]", {2 * pieces, 8});
    return flat_cells({0, 0, 0}, plan, -1).size();
  };
  CHECK(made(1 << 17) == kMaxCells);
  CHECK(error_of([&] { made((1 << 17) + 4); }) == "a piece is cut into more than 262144 boxes");
}

}  // namespace
}  // namespace ttcheck::assemble
