// SPDX-License-Identifier: Apache-2.0
// One tensor from its records: what it is made of, and what is said of records that do not fit.

#include "core/assemble/build.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/array_source.hpp"
#include "tests/support/built_records.hpp"

namespace ttcheck::assemble {
namespace {

using Ranks = std::vector<std::int32_t>;
using Scene = tests::BuiltRecords;
using Boxes = std::vector<Box>;

/// code, ranks, message of each finding.
using Said = std::vector<std::tuple<Code, Ranks, std::string>>;

Said said(const Built& built) {
  Said all;
  for (const Finding& one : built.findings) all.emplace_back(one.code, one.ranks, one.message);
  return all;
}

Ranks ranks_in(const std::vector<Piece>& pieces) {
  Ranks ranks;
  for (const Piece& piece : pieces) ranks.push_back(piece.rank);
  return ranks;
}

struct Row {
  std::string what;
  std::function<void(Scene&)> fill;
  Shape shape;  ///< of the tensor
  Ranks pieces, replicas;
  Said said = {};
  Boxes holes = {};
  Ranks explained_by = {};
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    INFO(row.what);
    Scene scene;
    row.fill(scene);
    const Built built = scene.made();
    CHECK(said(built) == row.said);
    CHECK(built.explained_by == row.explained_by);
    REQUIRE(built.tensor);
    CHECK(built.tensor->shape == row.shape);
    CHECK(ranks_in(built.tensor->pieces) == row.pieces);
    CHECK(ranks_in(built.tensor->replicas) == row.replicas);
    CHECK(built.tensor->holes == row.holes);
  }
}

TEST_CASE("whole arrays") {
  check({
      {"one", [](Scene& s) { s.add({2, 3}, kNoRank); }, {2, 3}, {kNoRank}, {}},
      {"a number", [](Scene& s) { s.add({}, 3); }, {}, {3}, {}},
      {"nothing", [](Scene& s) { s.add({0, 3}, 3); }, {0, 3}, {3}, {}},
      {"copies in any order",
       [](Scene& s) {
         for (const std::int32_t rank : {2, 0, 1}) s.add({2}, rank);
       },
       {2},
       {0},
       {1, 2}},
      {"of another shape",
       [](Scene& s) {
         s.add({2}, 0);
         s.add({3}, 1);
         s.add({2}, 2);
       },
       {2},
       {0},
       {2},
       {{Code::shape_or_dtype, {1}, "w has shape [3] here, [2] on rank 0"}}},
      {"of another shape, without ranks",
       [](Scene& s) {
         s.add({2}, kNoRank);
         s.add({}, kNoRank);
       },
       {2},
       {kNoRank},
       {},
       {{Code::shape_or_dtype, {}, "w has shape [] here, [2] on the first"}}},
      {"of another dtype",
       [](Scene& s) {
         s.add({2}, 0);
         s.add({2}, 1).dtype = DType::bf16;
       },
       {2},
       {0},
       {},
       {{Code::shape_or_dtype, {1}, "w is bf16 here and f32 on rank 0"}}},
      {"twice on a rank",
       [](Scene& s) {
         s.add({2}, 0);
         s.add({2}, 0);
         s.add({2}, 1);
       },
       {2},
       {0},
       {1},
       {{Code::overlap,
         {0},
         "w is there twice on rank 0: expected one array, the later one is left out"}}},
      {"twice without ranks",
       [](Scene& s) {
         s.add({2}, kNoRank);
         s.add({2}, kNoRank);
       },
       {2},
       {kNoRank},
       {},
       {{Code::overlap, {}, "w is there twice: expected one array, the later one is left out"}}},
      {"of a stated shape", [](Scene& s) { s.add({2}, 0).logical = Shape{2}; }, {2}, {0}, {}},
      {"placed in another way",
       [](Scene& s) {
         s.axes = {{"dp", 4}};
         s.add({2}, 0);
         s.add({2}, 1).logical = Shape{2};
         s.add({2}, 2, "x");
         s.add_box({2}, 3, {2}, {0});
       },
       {2},
       {0},
       {},
       {{Code::shape_or_dtype, {1}, "w is placed in another way here than on rank 0"},
        {Code::shape_or_dtype, {2}, "w is placed in another way here than on rank 0"},
        {Code::shape_or_dtype, {3}, "w is placed in another way here than on rank 0"}}},
  });
}

TEST_CASE("boxes") {
  const auto outside = [](const std::string& shape, const std::string& lo) {
    return Said{{Code::shape_or_dtype,
                 {1},
                 "w: a piece of shape [" + shape + "] at [" + lo + "] is not inside of [4, 2]"}};
  };
  const auto with = [](Shape shape, Extents lo) {
    return [=](Scene& s) {
      s.add_box({4, 2}, 0, {4, 2}, {0, 0});
      s.add_box(shape, 1, {4, 2}, lo);
    };
  };
  check({
      {"rows",
       [](Scene& s) {
         s.add_box({3, 2}, 1, {4, 2}, {1, 0});
         s.add_box({1, 2}, 0, {4, 2}, {0, 0});
       },
       {4, 2},
       {0, 1},
       {}},
      {"a copy of one",
       [](Scene& s) {
         s.add_box({3, 2}, 0, {4, 2}, {1, 0});
         s.add_box({1, 2}, 1, {4, 2}, {0, 0});
         s.add_box({3, 2}, 2, {4, 2}, {1, 0});
       },
       {4, 2},
       {0, 1},
       {2}},
      {"nothing at the end", with({0, 2}, {4, 0}), {4, 2}, {0}, {}},
      {"beyond the end", with({1, 2}, {4, 0}), {4, 2}, {0}, {}, outside("1, 2", "4, 0")},
      {"nothing beyond the end", with({0, 2}, {5, 0}), {4, 2}, {0}, {}, outside("0, 2", "5, 0")},
      {"too wide", with({1, 3}, {0, 0}), {4, 2}, {0}, {}, outside("1, 3", "0, 0")},
      {"before the start", with({1, 1}, {0, -1}), {4, 2}, {0}, {}, outside("1, 1", "0, -1")},
      {"of a negative shape", with({-1, 1}, {1, 0}), {4, 2}, {0}, {}, outside("-1, 1", "1, 0")},
      {"of fewer dimensions", with({4}, {0, 0}), {4, 2}, {0}, {}, outside("4", "0, 0")},
      {"at fewer dimensions", with({4, 2}, {0}), {4, 2}, {0}, {}, outside("4, 2", "0")},
      {"a hole",
       [](Scene& s) {
         s.add_box({1, 2}, 3, {4, 2}, {0, 0});
         s.add_box({1, 2}, 5, {4, 2}, {3, 0});
       },
       {4, 2},
       {3, 5},
       {},
       {{Code::omission, {3, 5}, "4 of 8 elements of w are on no rank"}},
       {{{1, 0}, {2, 2}}}},
      {"a hole of a rank that is missing",
       [](Scene& s) {
         s.add_box({2, 2}, 0, {4, 2}, {0, 0});
         s.missing = {1};
       },
       {4, 2},
       {0},
       {},
       {},
       {{{2, 0}, {2, 2}}},
       {1}},
      {"another block of the same row",
       [](Scene& s) {
         s.add_box({2}, 0, {4, 1}, {0, 0}).flat = FlatRange{{4, 1}, 0};
         s.add_box({2}, 1, {4, 1}, {0, 0}).flat = FlatRange{{4, 1}, 2};
         s.add_box({2}, 2, {4, 1}, {0, 0}).flat = FlatRange{{4, 1}, 2};
         s.add_box({2}, 3, {4, 1}, {0, 0}).flat = FlatRange{{4, 1}, 0};
       },
       {4, 1},
       {0, 1},
       {2, 3}},
  });
}

TEST_CASE("an overlap names both pieces") {
  const auto source = tests::ArraySource::of(std::vector<float>(8));
  Scene scene;
  scene.add_box({3}, 4, {5}, {2}).piece.source = &source;
  scene.add_box({3}, 1, {5}, {0}).piece.source = &source;
  scene.records[0].piece.offset = 12;
  const Built built = scene.made();
  REQUIRE(built.findings.size() == 1);
  const Finding& finding = built.findings.front();
  CHECK(finding.code == Code::overlap);
  CHECK(finding.message == "two pieces of w hold the same elements: memory:0x0 and memory:0xc");
  CHECK(finding.where == Where{"memory", 12, ""});
  CHECK(finding.ranks == Ranks{1, 4});
  CHECK(finding.step == 7);
  CHECK(finding.tensor == "w");
  CHECK(finding.severity == Severity::error);
}

TEST_CASE("what is placed by dims") {
  check({
      {"rows over tp with copies over dp",
       [](Scene& s) {
         s.axes = {{"dp", 2}, {"tp", 2}};
         for (const std::int32_t rank : {3, 1, 0, 2}) s.add({2}, rank, "x[tp]");
       },
       {4},
       {0, 1},
       {2, 3}},
      {"an empty last rank",
       [](Scene& s) {
         s.axes = {{"tp", 3}};
         for (const std::int32_t rank : {0, 1}) s.add({2}, rank, "x[tp]");
         s.add({0}, 2, "x[tp]");
       },
       {4},
       {0, 1},
       {}},
      {"the same line twice",
       [](Scene& s) {
         s.axes = {{"tp", 2}};
         s.add({2}, 0, "x[tp]");
         s.add({2}, 1, "x[cp] # cp:=tp");
       },
       {4},
       {0},
       {},
       {{Code::shape_or_dtype, {1}, "w is placed in another way here than on rank 0"}},
       {{{2}, {2}}}},
      {"a line and none",
       [](Scene& s) {
         s.axes = {{"tp", 2}};
         s.add({2}, 0, "x[tp]");
         s.add({2}, 1);
       },
       {4},
       {0},
       {},
       {{Code::shape_or_dtype, {1}, "w is placed in another way here than on rank 0"}},
       {{{2}, {2}}}},
      {"a shape that does not match",
       [](Scene& s) {
         s.axes = {{"tp", 2}};
         s.add({2, 3}, 0, "x[tp] y");
         s.add({2, 4}, 1, "x[tp] y");
       },
       {4, 3},
       {0},
       {},
       {{Code::shape_or_dtype,
         {1},
         "w: shape [2, 4] does not match 'x[tp] y': dimension 1 has 4 here, expected 3 of 3"}},
       {{{2, 0}, {2, 3}}}},
      {"a part that is on no rank",
       [](Scene& s) {
         s.axes = {{"tp", 2}};
         s.add({2}, 0, "x[tp]");
       },
       {4},
       {0},
       {},
       {{Code::omission, {0}, "2 of 4 elements of w are on no rank"}},
       {{{2}, {2}}}},
      {"a part of a missing rank",
       [](Scene& s) {
         s.axes = {{"tp", 3}};
         s.add({2}, 0, "x[tp]");
         s.add({2}, 1, "x[tp]");
         s.missing = {2};
       },
       {6},
       {0, 1},
       {},
       {},
       {{{4}, {2}}},
       {2}},
      {"a part of a missing rank, and one of no rank",
       [](Scene& s) {
         s.axes = {{"tp", 3}};
         s.add({2}, 0, "x[tp]");
         s.missing = {2};
       },
       {6},
       {0},
       {},
       {{Code::omission, {0}, "4 of 6 elements of w are on no rank"}},
       {{{2}, {4}}}},
      {"a missing rank on another stage explains nothing",
       [](Scene& s) {
         s.axes = {{"pp", 2}, {"tp", 2}};
         s.add({2}, 0, "x[tp]");
         s.missing = {3};
       },
       {4},
       {0},
       {},
       {{Code::omission, {0}, "2 of 4 elements of w are on no rank"}},
       {{{2}, {2}}}},
      {"of two missing ranks the one that had the hole",
       [](Scene& s) {
         s.axes = {{"dp", 2}, {"tp", 2}};
         s.add({2}, 1, "x[tp]");
         s.add({2}, 3, "x[tp]");
         s.missing = {0, 2};
       },
       {4},
       {1},
       {3},
       {},
       {{{0}, {2}}},
       {0}},
      {"micro-batches of a missing rank",
       [](Scene& s) {
         s.axes = {{"tp", 2}};
         s.microbatches = 2;
         for (const std::int64_t mb : {1, 0}) s.add({2, 3}, 0, "x[mb] y[tp]").at["mb"] = mb;
         s.missing = {1};
       },
       {4, 6},
       {0, 0},
       {},
       {},
       {{{0, 3}, {2, 3}}, {{2, 3}, {2, 3}}},
       {1}},
  });
}

TEST_CASE("copies that ranks beside the holders lack") {
  struct Lack {
    std::string what;
    Ranks held, missing, silent, lacking;
    std::string dims = "x";
  };
  const std::vector<Lack> rows = {
      {"none", {0, 1, 2, 3}, {}, {}, {}},
      {"one", {0, 1, 2}, {}, {}, {3}},
      {"two", {1, 2}, {}, {}, {0, 3}},
      {"missing or silent", {0}, {1}, {3}, {2}},
      {"all gone", {2}, {0, 1}, {3}, {}},
      {"no rank is known", {kNoRank}, {}, {}, {}},
      {"of a part", {0, 1, 3}, {}, {}, {2}, "x[tp:sizes=2/2]"},
      {"that would be empty", {0, 2}, {}, {}, {}, "x[tp:sizes=2/0]"},
  };
  for (const Lack& row : rows) {
    INFO(row.what);
    Scene scene;
    scene.axes = {{"dp", 2}, {"tp", 2}};
    for (const std::int32_t rank : row.held) scene.add({2}, rank, row.dims);
    scene.missing = row.missing;
    scene.silent = row.silent;
    const Built built = scene.made();
    REQUIRE(built.findings.size() == (row.lacking.empty() ? 0 : 1));
    if (row.lacking.empty()) continue;
    const Finding& finding = built.findings.front();
    CHECK(finding.ranks == row.lacking);
    CHECK(finding.code == Code::omission);
    CHECK(finding.severity == Severity::warning);
    CHECK_FALSE(finding.incomplete);
    CHECK(finding.message == std::to_string(row.lacking.size()) + " of " +
                                 std::to_string(row.lacking.size() + row.held.size()) +
                                 " ranks hold no copy of w, first rank " +
                                 std::to_string(row.lacking.front()));
  }
}

}  // namespace
}  // namespace ttcheck::assemble
