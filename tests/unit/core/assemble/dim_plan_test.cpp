// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/dim_plan.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/error_of.hpp"
#include "tests/support/plan_of.hpp"

namespace ttcheck::assemble {
namespace {

using tests::error_of;

TEST_CASE("which indices coordinates hold of a dimension") {
  struct Row {
    std::string what, line;
    std::int64_t length, stored;
    Extents at;
    std::vector<Range> held;
  };
  const std::vector<Row> rows = {
      {"not cut", "x", 5, 5, {0, 0}, {{0, 5}}},
      {"with padding", "x", 5, 8, {0, 0}, {{0, 8}}},
      {"cut", "x[tp]", 5, 5, {1, 0}, {{3, 5}}},
      {"cut with its padding", "x[tp]", 5, 8, {1, 0}, {{4, 8}}},
      {"by two axes, the outermost first", "x[tp,cp]", 8, 8, {0, 1}, {{2, 4}}},
      {"by two axes, the other first", "x[cp,tp]", 8, 8, {0, 1}, {{4, 6}}},
      {"parts", "(a|b)[tp]", 8, 8, {1, 0}, {{2, 4}, {6, 8}}},
      {"parts, each with half of the padding",
       "(a|b)[tp]",
       6,
       8,
       {1, 0},
       {{2, 3}, {6, 7}, {5, 6}, {7, 8}}},
      {"parts that are not cut", "(a|b)", 6, 6, {0, 0}, {{0, 6}}},
      {"parts that are not cut, with padding",
       "(a|b)",
       6,
       8,
       {0, 0},
       {{0, 3}, {6, 7}, {3, 6}, {7, 8}}},
      {"parts of one", "(a|b)[tp]", 2, 2, {1, 0}, {}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const Plan plan = tests::plan_of({{"tp", 2}, {"cp", 2}}, row.line, {row.length}, {row.stored});
    CHECK(ranges_at(plan.dims.front(), plan.axes, row.at) == row.held);
  }
  const Plan odd = tests::plan_of({}, "(a|b)", {6}, {7});
  CHECK(error_of([&] { ranges_at(odd.dims.front(), odd.axes, {}); }) ==
        "padding does not divide among the parts");
}

TEST_CASE("pieces of a batch that are joined are cut where they end") {
  Plan plan = tests::plan_of({{"tp", 2}, {"mb", 3}}, "x[tp,mb]", {12});
  DimPlan& dim = plan.dims.front();
  dim.joined = {
      {{0}, {0, 5}}, {{0, 0}, {0, 3}}, {{0, 2}, {3, 5}}, {{1}, {5, 12}}, {{1, 1}, {0, 7}}};
  struct Row {
    Extents at;
    std::vector<Range> held;
  };
  const std::vector<Row> rows = {
      {{0, 0}, {{0, 3}}},
      {{0, 1}, {}},  // holds none
      {{0, 2}, {{3, 5}}},
      {{1, 1}, {{5, 12}}},
  };
  for (const Row& row : rows) {
    INFO("tp ", row.at[0], ", mb ", row.at[1]);
    CHECK(ranges_at(dim, plan.axes, row.at) == row.held);
  }
  dim.joined = {{{0}, {0, 4}}, {{1}, {4, 12}}};
  dim.shards[1].spec.interleave = 2;  // within these, what is cut in a stated way is cut so
  CHECK(ranges_at(dim, plan.axes, {1, 1}) == std::vector<Range>{{6, 8}});
}

}  // namespace
}  // namespace ttcheck::assemble
