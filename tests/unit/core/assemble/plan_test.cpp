// SPDX-License-Identifier: Apache-2.0
// A dims line with the sizes that records show filled in.

#include "core/assemble/plan.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/error_of.hpp"

namespace ttcheck::assemble {
namespace {

using tests::error_of;
using Group = std::map<Extents, std::int64_t>;

struct Held {
  Coordinates at;
  Shape shape;
};

/// Records of one tensor under a line, on a mesh of tp=2, dp=3 and one= 1.
struct Scene {
  std::string line;
  std::vector<Held> held;
  std::optional<Shape> logical = {};
  std::int64_t microbatches = 1;

  /// The plan, and the coordinates that each member got.
  std::pair<Plan, std::vector<Extents>> made() const {
    Mesh mesh;
    mesh.axes = {{"tp", 2}, {"dp", 3}, {"one", 1}};
    const Numbers numbers = {{"vocab", 7}, {"none", 0}};
    const Stages stages(mesh);
    std::vector<Record> records;
    for (const Held& one : held) {
      Record& record = records.emplace_back();
      record.at = one.at;
      record.shape = one.shape;
    }
    records.front().logical = logical;
    std::vector<Member> members;
    for (const Record& record : records) members.push_back({&record, {}});
    Plan plan = make_plan(parse_dims(line), members, {mesh, numbers, stages, microbatches, {}, {}});
    std::vector<Extents> at;
    for (const Member& member : members) at.push_back(member.at);
    return {std::move(plan), std::move(at)};
  }
};

using Axes = std::vector<std::pair<std::string, std::int64_t>>;

Axes axes_of(const Plan& plan) {
  Axes axes;
  for (const AxisUse& axis : plan.axes) axes.emplace_back(axis.name, axis.n);
  return axes;
}

TEST_CASE("shapes and axes of a plan") {
  struct Row {
    std::string what;
    Scene scene;
    Shape shape, stored, least;
    Axes axes;
    std::vector<Extents> at;
  };
  const Held both_rows[] = {{{{"tp", 0}}, {3, 4}}, {{{"tp", 1}}, {2, 4}}};
  const std::vector<Held> rows_of_tp(std::begin(both_rows), std::end(both_rows));
  const std::vector<Held> line_of_tp = {{{}, {4}}, {{{"tp", 1}}, {4}}};
  const std::vector<Row> rows = {
      {"a number", {"", {{{}, {}}}}, {}, {}, {}, {}, {{}}},
      {"whole", {"x y", {{{}, {2, 3}}}}, {2, 3}, {2, 3}, {2, 3}, {}, {{}}},
      {"rows over tp", {"x[tp] y", rows_of_tp}, {5, 4}, {5, 4}, {5, 4}, {{"tp", 2}}, {{0}, {1}}},
      {"any dimensions", {"*", {{{}, {2, 3, 4}}}}, {2, 3, 4}, {2, 3, 4}, {2, 3, 4}, {}, {{}}},
      {"any before",
       {"* x[tp]", {{{}, {2, 3, 4}}, {{{"tp", 1}}, {2, 3, 4}}}},
       {2, 3, 8},
       {2, 3, 8},
       {2, 3, 8},
       {{"tp", 2}},
       {{0}, {1}}},
      {"any behind that are none", {"x[tp] *", line_of_tp}, {8}, {8}, {8}, {{"tp", 2}}, {{0}, {1}}},
      {"any between",
       {"x[tp] * y", {{{}, {1, 2, 3}}, {{{"tp", 1}}, {1, 2, 3}}}},
       {2, 2, 3},
       {2, 2, 3},
       {2, 2, 3},
       {{"tp", 2}},
       {{0}, {1}}},
      {"a length of one", {"1 x", {{{}, {1, 3}}}}, {1, 3}, {1, 3}, {1, 3}, {}, {{}}},
      {"an axis beyond the mesh",
       {"x[ep]", {{{}, {2}}, {{{"ep", 2}}, {1}}}},
       {5},
       {5},
       {5},
       {{"ep", 3}},
       {{0}, {2}}},
      {"a rank beyond the axis",
       {"x[tp]", {{{}, {2}}, {{{"tp", 3}}, {2}}}},
       {8},
       {8},
       {8},
       {{"tp", 4}},
       {{0}, {3}}},
      {"an axis in two words",
       {"x[ep] # ep:=tp", line_of_tp},
       {8},
       {8},
       {8},
       {{"tp", 2}},
       {{0}, {1}}},
      {"another axis in two words",
       {"x[tp] # ep:=dp", line_of_tp},
       {8},
       {8},
       {8},
       {{"tp", 2}},
       {{0}, {1}}},
      {"a missing rank",
       {"x[dp]", {{{}, {2}}, {{{"dp", 1}}, {2}}}},
       {6},
       {6},
       {4},
       {{"dp", 3}},
       {{0}, {1}}},
      {"micro-batches",
       {"x[mb]", {{{}, {2}}, {{{"mb", 1}}, {2}}}, {}, 2},
       {4},
       {4},
       {4},
       {{"mb", 2}},
       {{0}, {1}}},
      {"micro-batches that are lost",
       {"x[mb]", {{{}, {2}}, {{{"mb", 1}}, {2}}}, {}, 4},
       {8},
       {8},
       {4},
       {{"mb", 4}},
       {{0}, {1}}},
      {"padding to a number", {"x[tp:pad=7]", line_of_tp}, {7}, {8}, {7}, {{"tp", 2}}, {{0}, {1}}},
      {"padding to one",
       {"x[tp:pad=1]", {{{}, {1}}, {{{"tp", 1}}, {1}}}},
       {1},
       {2},
       {1},
       {{"tp", 2}},
       {{0}, {1}}},
      {"padding to a name",
       {"x[tp:pad=vocab]", line_of_tp},
       {7},
       {8},
       {7},
       {{"tp", 2}},
       {{0}, {1}}},
      {"padding to the stated length",
       {"x[tp:pad=7]", line_of_tp, Shape{7}},
       {7},
       {8},
       {7},
       {{"tp", 2}},
       {{0}, {1}}},
      {"a stated shape", {"x[tp]", line_of_tp, Shape{6}}, {6}, {8}, {6}, {{"tp", 2}}, {{0}, {1}}},
      {"aligned",
       {"x[tp:align=4]", {{{}, {3}}, {{{"tp", 1}}, {2}}}, Shape{5}},
       {5},
       {8},
       {5},
       {{"tp", 2}},
       {{0}, {1}}},
      {"a record of another number of dimensions is not looked at",
       {"x[tp]", {{{}, {4}}, {{{"tp", 1}}, {9, 9}}, {{{"tp", 1}}, {4}}}},
       {8},
       {8},
       {8},
       {{"tp", 2}},
       {{0}, {1}, {1}}},
      {"a copy",
       {"x[tp]", {{{}, {4}}, {{{"tp", 1}}, {4}}, {{{"dp", 1}, {"tp", 1}}, {5}}}},
       {8},
       {8},
       {8},
       {{"tp", 2}},
       {{0}, {1}, {1}}},
      {"addends",
       {"x[dp] # tp:partial", {{{}, {2}}, {{{"dp", 1}}, {2}}, {{{"dp", 2}}, {2}}}},
       {6},
       {6},
       {6},
       {{"dp", 3}, {"tp", 2}},
       {{0, 0}, {1, 0}, {2, 0}}},
      {"flattened",
       {"flat[tp]", {{{}, {3}}, {{{"tp", 1}}, {2}}}},
       {5},
       {5},
       {5},
       {{"tp", 2}},
       {{0}, {1}}},
      {"flattened tables",
       {"flat[tp]", {{{}, {3, 2}}, {{{"tp", 1}}, {2, 2}}}},
       {10},
       {10},
       {10},
       {{"tp", 2}},
       {{0}, {1}}},
      {"flattened, a rank missing",
       {"flat[dp]", {{{}, {3}}, {{{"dp", 2}}, {2}}}},
       {9},
       {9},
       {5},
       {{"dp", 3}},
       {{0}, {2}}},
      {"flattened over two axes",
       {"flat[tp,dp]", {{{}, {3}}, {{{"tp", 1}, {"dp", 2}}, {4}}}},
       {24},
       {24},
       {7},
       {{"tp", 2}, {"dp", 3}},
       {{0, 0}, {1, 2}}},
      {"flattened along another word",
       {"flat[ep] # ep:=tp", {{{}, {3}}, {{{"tp", 1}}, {2}}}},
       {5},
       {5},
       {5},
       {{"tp", 2}},
       {{0}, {1}}},
      {"flattened and stated",
       {"flat[tp]", {{{}, {3}}, {{{"tp", 1}}, {3}}}, Shape{2, 3}},
       {2, 3},
       {2, 3},
       {2, 3},
       {{"tp", 2}},
       {{0}, {1}}},
      {"a part flattened",
       {"flat[dp] of x[tp] y", {{{}, {3}}, {{{"tp", 1}}, {3}}}, Shape{4, 3}},
       {4, 3},
       {4, 3},
       {4, 3},
       {{"tp", 2}, {"dp", 3}},
       {{0, 0}, {1, 0}}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const auto [plan, at] = row.scene.made();
    Shape stored;
    for (const DimPlan& dim : plan.dims) stored.push_back(dim.stored);
    CHECK(plan.shape == row.shape);
    CHECK(stored == row.stored);
    CHECK(plan.least == row.least);
    CHECK(axes_of(plan) == row.axes);
    CHECK(at == row.at);
    CHECK(plan.stated == row.scene.logical.has_value());
    CHECK(plan.flattened == row.scene.line.starts_with("flat"));
  }
}

TEST_CASE("parts of a dimension") {
  struct Row {
    std::string line;
    std::vector<std::int64_t> parts;
  };
  const std::vector<Row> rows = {
      {"x[tp]", {}},
      {"(a|b)[tp]", {7, 7}},
      {"(a:4|b)[tp]", {4, 10}},
      {"(a:vocab|b:7)[tp]", {7, 7}},
  };
  for (const Row& row : rows) {
    INFO(row.line);
    const Scene scene{row.line, {{{}, {7}}, {{{"tp", 1}}, {7}}}};
    CHECK(scene.made().first.dims.front().parts == row.parts);
  }
}

TEST_CASE("what ranks add") {
  struct Row {
    std::string line;
    Reduce reduce;
    std::vector<std::size_t> reduced;
    std::size_t shards;
    std::int64_t mean_of = 1;
  };
  const std::vector<Row> rows = {
      {"x", Reduce::none, {}, 0},
      {"x # tp:partial", Reduce::sum, {0}, 0},
      {"x # tp:partial=max", Reduce::max, {0}, 0},
      {"x[tp:partial=avg]", Reduce::avg, {0}, 0, 2},
      {"x[dp] # tp:partial=avg", Reduce::avg, {1}, 1, 2},
      {"x # tp:partial=avg dp:partial=avg", Reduce::avg, {0, 1}, 0, 6},
      {"x # tp:partial dp:partial=avg", Reduce::avg, {0, 1}, 0, 3},
      {"x # dp:partial=avg tp:partial", Reduce::avg, {0, 1}, 0, 3},
      {"x # tp:partial dp:partial", Reduce::sum, {0, 1}, 0},
      {"x # one:partial=avg", Reduce::none, {}, 0},
      {"x # tp:partial one:partial=avg", Reduce::sum, {0}, 0},
  };
  for (const Row& row : rows) {
    INFO(row.line);
    const Plan plan = Scene{row.line, {{{}, {6}}}}.made().first;
    CHECK(plan.reduce == row.reduce);
    CHECK(plan.reduced == row.reduced);
    CHECK(plan.mean_of == row.mean_of);
    CHECK(plan.dims.front().shards.size() == row.shards);
  }
}

TEST_CASE("how many elements the ranks of a flattened part hold together") {
  struct Row {
    std::string what;
    Scene scene;
    std::vector<std::size_t> group;
    Group totals;
    std::optional<std::int64_t> align;
  };
  const std::vector<Row> rows = {
      {"no flat", {"x[tp]", {{{}, {3}}}}, {}, {}, {}},
      {"all", {"flat[tp]", {{{}, {4}}, {{{"tp", 1}}, {3}}}, Shape{6}}, {}, {{{}, 7}}, {}},
      {"one missing", {"flat[tp]", {{{}, {4}}}, Shape{6}}, {}, {{{}, 8}}, {}},
      {"two of three", {"flat[dp]", {{{}, {2}}, {{{"dp", 2}}, {4}}}, Shape{6}}, {}, {{{}, 12}}, {}},
      {"copies",
       {"flat[tp]", {{{}, {4}}, {{{"tp", 1}}, {3}}, {{{"dp", 1}}, {9}}}, Shape{6}},
       {},
       {{{}, 7}},
       {}},
      {"by part",
       {"flat[dp] of x[tp]",
        {{{}, {1}}, {{{"dp", 1}}, {1}}, {{{"dp", 2}}, {2}}, {{{"tp", 1}}, {5}}},
        Shape{6}},
       {0},
       {{{0}, 4}, {{1}, 15}},
       {}},
      {"aligned",
       {"flat[tp:align=4]", {{{}, {4}}, {{{"tp", 1}}, {4}}}, Shape{6}},
       {},
       {{{}, 8}},
       4},
      {"aligned to a name",
       {"flat[tp:align=vocab]", {{{}, {4}}, {{{"tp", 1}}, {4}}}, Shape{6}},
       {},
       {{{}, 8}},
       7},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const Plan plan = row.scene.made().first;
    CHECK(plan.flat_group == row.group);
    CHECK(plan.flat_totals == row.totals);
    CHECK(plan.flat_align == row.align);
    CHECK(plan.flat.size() == (plan.flattened ? 1 : 0));
  }
}

TEST_CASE("lines that cannot be meant for these shapes") {
  struct Row {
    Scene scene;
    std::string message;
  };
  const std::vector<Held> one = {{{}, {2}}};
  const std::vector<Row> rows = {
      {{"x y", one}, "the line has 2 dimensions, the array has 1"},
      {{"x", {{{}, {2, 3}}}}, "the line has 1 dimensions, the array has 2"},
      {{"x y *", one}, "the line has 2 dimensions, the array has 1"},
      {{"1", one}, "dimension 0 is written as 1 and has 2"},
      {{"x 1", {{{}, {1, 0}}}}, "dimension 1 is written as 1 and has 0"},
      {{"x[tp]", {{{{"tp", -1}}, {2}}}}, "negative coordinate along tp"},
      {{"flat[tp]", {{{{"tp", -1}}, {2}}}}, "negative coordinate along tp"},
      {{"x[tp]", {{{{"tp", INT64_MAX}}, {2}}}}, "sum overflows"},
      {{"x[tp:pad=vocabulary]", one},
       "the size vocabulary is no number of [model] nor of the run's facts"},
      {{"x[tp:pad=none]", one}, "a size must be positive, this is 0"},
      {{"flat[tp:align=none]", one, Shape{2}}, "a size must be positive, this is 0"},
      {{"(a:none|b)", one}, "a size must be positive, this is 0"},
      {{"x[tp:pad=7]", one, Shape{8}}, "pad=7 and the stated length 8 differ"},
      {{"x[tp]", one, Shape{2, 2}}, "the stated shape has 2 dimensions, the line has 1"},
      {{"x # tp:partial=max dp:partial", one}, "one line reduces in two ways"},
      {{"flat[dp] of x", one}, "flat ... of needs the logical shape, which is not stated"},
      {{"flat[dp] of x", one, Shape{2, 2}}, "the line has 1 dimensions, the array has 2"},
      {{"flat[tp]", {{{}, {INT64_MAX}}, {{{"tp", 1}}, {1}}}}, "sum overflows"},
      {{"flat[tp]", {{{}, {INT64_MAX}}}}, "product overflows"},
  };
  for (const Row& row : rows) {
    INFO(row.scene.line);
    CHECK(error_of([&] { row.scene.made(); }) == row.message);
  }
}

TEST_CASE("of what is flattened pad= is how many elements there are") {
  const std::vector<Held> held = {{{{"tp", 0}}, {4}}, {{{"tp", 1}}, {4}}};
  CHECK(Scene{"flat[tp:pad=vocab]", held}.made().first.shape == Shape{7});
  CHECK(Scene{"flat[tp]", held}.made().first.shape == Shape{8});
  CHECK(Scene{"flat[tp:pad=vocab]", held, Shape{7, 1}}.made().first.shape == Shape{7, 1});
  CHECK(error_of([&] { Scene{"flat[tp:pad=vocab]", held, Shape{2, 4}}.made(); }) ==
        "pad=7 and a shape of 8 elements");
}

}  // namespace
}  // namespace ttcheck::assemble
