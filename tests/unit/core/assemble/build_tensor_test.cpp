// SPDX-License-Identifier: Apache-2.0
// What a tensor that was put together says of itself, and what it takes to be one.

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/assemble/build.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/built_records.hpp"

namespace ttcheck::assemble {
namespace {

using Ranks = std::vector<std::int32_t>;
using Scene = tests::BuiltRecords;

Ranks ranks_in(const std::vector<Piece>& pieces) {
  Ranks ranks;
  for (const Piece& piece : pieces) ranks.push_back(piece.rank);
  return ranks;
}

std::vector<Ranks> ranks_in(const std::vector<std::vector<Piece>>& sets) {
  std::vector<Ranks> all;
  for (const auto& set : sets) all.push_back(ranks_in(set));
  return all;
}

TEST_CASE("addends by the coordinate along the axes that are summed over") {
  struct Row {
    std::string what;
    std::vector<Axis> axes;
    std::string dims;
    Ranks held;
    std::vector<Ranks> terms, copies;
    std::string message = {};
    Ranks missing = {};
    Ranks explained_by = {};
  };
  const std::vector<Axis> two = {{"dp", 2}, {"tp", 2}};
  const std::vector<Axis> pp = {{"pp", 3}};
  const std::vector<Row> rows = {
      {"all, with copies", two, "x # tp:partial", {3, 1, 2, 0}, {{0}, {1}}, {{2}, {3}}},
      {"all over both",
       two,
       "x # tp:partial dp:partial",
       {0, 1, 2, 3},
       {{0}, {1}, {2}, {3}},
       {{}, {}, {}, {}}},
      {"of parts", two, "x[tp] # dp:partial", {0, 1, 2, 3}, {{0, 1}, {2, 3}}, {{}, {}}},
      {"one is not there",
       two,
       "x # tp:partial",
       {0, 2},
       {{0}},
       {{2}},
       "1 of 2 addends of w are there"},
      {"one is on a missing rank", two, "x # tp:partial", {0, 2}, {{0}}, {{2}}, "", {1}, {1}},
      {"one is on two missing ranks", two, "x # tp:partial", {0}, {{0}}, {{}}, "", {1, 3}, {1, 3}},
      {"those of the stages that have it", pp, "x # pp:partial", {0, 2}, {{0}, {2}}, {{}, {}}},
      {"of one stage", pp, "x # pp:partial", {1}, {{1}}, {{}}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Scene scene;
    scene.axes = row.axes;
    for (const std::int32_t rank : row.held) scene.add({2}, rank, row.dims);
    scene.missing = row.missing;
    const Built built = scene.made();
    REQUIRE(built.tensor);
    CHECK(built.tensor->reduce == Reduce::sum);
    CHECK(built.tensor->pieces.empty());
    CHECK(built.tensor->replicas.empty());
    CHECK(ranks_in(built.tensor->terms) == row.terms);
    CHECK(ranks_in(built.tensor->term_replicas) == row.copies);
    CHECK(built.explained_by == row.explained_by);
    const bool whole_is_open = !row.message.empty() || !row.explained_by.empty();
    CHECK(built.tensor->holes.size() == (whole_is_open ? 1 : 0));
    if (whole_is_open) CHECK(built.tensor->holes.front() == whole(built.tensor->shape));
    REQUIRE(built.findings.size() == (row.message.empty() ? 0 : 1));
    if (row.message.empty()) continue;
    CHECK(built.findings.front().message == row.message);
    CHECK(built.findings.front().code == Code::omission);
    CHECK(built.findings.front().incomplete);
    CHECK(built.findings.front().ranks == row.held);
  }
}

TEST_CASE("a hole in an addend is a hole") {
  Scene scene;
  scene.axes = {{"dp", 2}, {"tp", 2}};
  for (const std::int32_t rank : {0, 1, 2}) scene.add({2}, rank, "x[tp] # dp:partial");
  const Built built = scene.made();
  REQUIRE(built.findings.size() == 1);
  CHECK(built.findings.front().message == "2 of 4 elements of w are on no rank");
  CHECK(built.tensor->holes == std::vector<Box>{{{2}, {2}}});
}

TEST_CASE("cells that say no more than all of it are left out, in every list") {
  Scene scene;
  scene.axes = {{"dp", 2}};
  scene.add({2, 2}, 0, "x y");
  scene.add({2, 2}, 1, "x y").piece.cells = {{{{0, 0}, {2, 2}}, 0, {1, 2}}};
  const Built kept = scene.made();
  CHECK(kept.tensor->pieces[0].cells.empty());
  CHECK(kept.tensor->replicas[0].cells == std::vector<Cell>{{{{0, 0}, {2, 2}}, 0, {1, 2}}});
  for (const std::int64_t start : {0, 1}) {
    Scene moved;
    moved.add({2, 2}, 0).piece.cells = {{{{0, 0}, {2, 2}}, start, {2, 1}}};
    CHECK(moved.made().tensor->pieces[0].cells.size() == static_cast<std::size_t>(start));
  }
  Scene sums;
  sums.axes = {{"dp", 2}, {"tp", 2}};
  for (const std::int32_t rank : {0, 1, 2, 3}) sums.add({2}, rank, "x # tp:partial");
  const Built summed = sums.made();
  for (const auto* sets : {&summed.tensor->terms, &summed.tensor->term_replicas}) {
    REQUIRE(sets->size() == 2);
    for (const auto& set : *sets) CHECK(set.front().cells.empty());
  }
}

TEST_CASE("a few elements that declare very many are not walked") {
  struct Row {
    std::int64_t length, held;
    bool made;
  };
  constexpr std::int64_t kOpen = std::int64_t{1} << 30;
  const std::vector<Row> rows = {
      {kOpen + 1, 1, true},   // as many open as any tensor may have
      {kOpen + 2, 1, false},  // more, and more than 2^16 for each one
      {kOpen + (1 << 14), 1 << 14, true},
      {kOpen + (1 << 16) + (1 << 14), 1 << 14, false},
      {kOpen + (1 << 16) + (1 << 14) - 1, 1 << 14, true},
  };
  for (const Row& row : rows) {
    INFO(row.held, " of ", row.length);
    Scene scene;
    scene.add_box({row.held}, 0, {row.length}, {0});
    const Built built = scene.made();
    CHECK(built.tensor.has_value() == row.made);
    REQUIRE(built.findings.size() == 1);
    const Finding& finding = built.findings.front();
    CHECK(finding.code == (row.made ? Code::omission : Code::shape_or_dtype));
    if (row.made) continue;
    CHECK(finding.message == "w declares " + std::to_string(row.length) + " elements and holds " +
                                 std::to_string(row.held) + " of them");
  }
}

TEST_CASE("what makes no tensor") {
  Scene line;
  line.add({2}, 0, "x y");
  const Built of_line = line.made();
  CHECK_FALSE(of_line.tensor);
  REQUIRE(of_line.findings.size() == 1);
  CHECK(of_line.findings.front().message == "the line has 2 dimensions, the array has 1");
  CHECK(of_line.findings.front().code == Code::shape_or_dtype);
  Scene outside;
  outside.add_box({2}, 0, {1}, {0});
  CHECK_FALSE(outside.made().tensor);
  CHECK(outside.made().findings.size() == 1);
}

TEST_CASE("a tensor is as its first record says") {
  Scene scene;
  const auto first = std::make_shared<const TraceRecord>();
  const auto second = std::make_shared<const TraceRecord>();
  for (const std::int32_t rank : {1, 0}) {
    Record& record = scene.add({2}, rank);
    record.identity = {"l.1/grad.0", Phase::backward, 2, 3};
    record.dtype = DType::bf16;
    record.kind = rank == 0 ? Kind::grad : Kind::weight;
    record.undeclared = record.by_shape = record.by_rank = rank == 0;
    record.trace = rank == 0 ? first : second;
    record.stored = rank == 0;
  }
  const Built built = scene.made();
  REQUIRE(built.tensor);
  const Tensor& tensor = *built.tensor;
  CHECK(tensor.identity == Identity{"l.1/grad.0", Phase::backward, 2, 3});
  CHECK(tensor.kind == Kind::grad);
  CHECK(tensor.dtype == DType::bf16);
  CHECK(tensor.undeclared);
  CHECK(tensor.by_shape);
  CHECK(tensor.by_rank);
  CHECK(tensor.trace == first);
  CHECK_FALSE(tensor.stored);
  REQUIRE(tensor.recorded.size() == 2);
  CHECK(tensor.recorded[0] == std::pair(0, first));
  CHECK(tensor.recorded[1] == std::pair(1, second));
  scene.records[0].stored = true;
  CHECK(scene.made().tensor->stored);
  CHECK(scene.made().tensor->recorded.empty());
}

TEST_CASE("a finding names the op of a trace, and the place of the record that does not fit") {
  const auto source = tests::ArraySource::of(std::vector<float>(8));
  Scene scene;
  for (const std::int64_t length : {2, 3}) {
    scene.add({length}, static_cast<std::int32_t>(length)).identity = {"l.1/output.0",
                                                                       Phase::forward};
  }
  for (Record& record : scene.records) record.piece.source = &source;
  scene.records[1].piece.offset = 8;
  const Built built = scene.made();
  REQUIRE(built.findings.size() == 1);
  CHECK(built.findings.front().where == Where{"memory", 8, ""});
  CHECK(built.findings.front().op == "l.1");
  CHECK(built.findings.front().phase == Phase::forward);
  CHECK(built.findings.front().tensor == "l.1/output.0");
  for (Record& record : scene.records) record.identity.phase = Phase::none;
  CHECK(scene.made().findings.front().op.empty());
}

TEST_CASE("what is there of a shape that is a guess") {
  Scene scene;
  scene.axes = {{"tp", 4}};
  for (const std::int32_t rank : {0, 1}) scene.add({3, 2}, rank, "x[tp] y");
  scene.missing = {2, 3};
  CHECK(scene.made().tensor->shape == Shape{12, 2});
  CHECK(scene.made().least == Shape{6, 2});
  scene.add({1, 2}, 3, "x[tp] y");
  scene.missing = {2};
  CHECK(scene.made().tensor->shape == Shape{10, 2});
  CHECK(scene.made().least.empty());
}

}  // namespace
}  // namespace ttcheck::assemble
