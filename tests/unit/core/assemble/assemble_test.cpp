// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/assemble.hpp"

#include <doctest/doctest.h>

#include <string>

#include "core/base/parallel.hpp"

namespace ttcheck::assemble {
namespace {

Record record(const std::string& tensor, Shape shape, std::int32_t rank = kNoRank) {
  Record record;
  record.identity.name = tensor;
  record.shape = std::move(shape);
  record.piece.rank = rank;
  record.piece.dtype = record.dtype = DType::f32;
  return record;
}

Record placed(const std::string& tensor, const std::string& dims, Shape shape, std::int32_t rank,
              Coordinates at) {
  Record one = record(tensor, std::move(shape), rank);
  one.placement = std::make_shared<const Placement>(parse_dims(dims));
  one.at = std::move(at);
  return one;
}

Mesh mesh_of(std::vector<Axis> axes) {
  Mesh mesh;
  mesh.axes = std::move(axes);
  return mesh;
}

TEST_CASE("whole records become tensors without cells") {
  State state;
  state.records.push_back(record("a", {2, 3}));
  state.records.push_back(record("b", {}));
  const Assembly made = assemble(std::move(state), {}, {});
  REQUIRE(made.tensors.size() == 2);
  CHECK(made.tensors[0].identity.name == "a");
  CHECK(made.tensors[0].shape == Shape{2, 3});
  CHECK(made.tensors[0].pieces.size() == 1);
  CHECK(made.tensors[0].pieces[0].cells.empty());
  CHECK(made.tensors[1].order == 1);
  CHECK(made.findings.empty());
}

TEST_CASE("boxes of a self-describing format") {
  State state;
  for (std::int64_t i = 0; i < 3; ++i) {
    Record one = record("w", {i == 2 ? 1 : 2, 4}, static_cast<std::int32_t>(i));
    one.logical = Shape{5, 4};
    one.box_lo = Extents{2 * i, 0};
    state.records.push_back(std::move(one));
  }
  const Assembly made = assemble(std::move(state), {}, {});
  REQUIRE(made.tensors.size() == 1);
  CHECK(made.findings.empty());
  CHECK(made.tensors[0].shape == Shape{5, 4});
  REQUIRE(made.tensors[0].pieces.size() == 3);
  CHECK(made.tensors[0].pieces[2].cells[0].box == Box{{4, 0}, {1, 4}});
}

/// Tensors of which some overlap, some have holes, some are whole and some are of no common value.
State many_kinds(std::int64_t tensors) {
  State state;
  for (std::int64_t t = 0; t < tensors; ++t) {
    const std::string name = "w" + std::to_string(t);
    if (t % 7 == 3) {
      state.records.push_back(record(name, {4, 4}));
      continue;
    }
    if (t % 7 == 5) {
      state.records.push_back(placed(name, "x # rep=any", {4}, 0, {}));
      continue;
    }
    for (std::int64_t i = 0; i < (t % 1000 == 10 ? 1 : 2); ++i) {
      Record one = record(name, {2, 4}, static_cast<std::int32_t>(i));
      one.logical = Shape{4, 4};
      one.box_lo = Extents{t % 1000 == 20 ? i : 2 * i, 0};
      state.records.push_back(std::move(one));
    }
  }
  return state;
}

TEST_CASE("many tensors are the same at any number of threads, in order") {
  constexpr std::int64_t kTensors = 20'000;
  std::vector<std::string> said[2];
  for (const int threads : {1, 4}) {
    set_threads(threads);
    const Assembly made = assemble(many_kinds(kTensors), {}, {});
    std::vector<std::string>& all = said[threads == 1 ? 0 : 1];
    for (const Finding& finding : made.findings) all.push_back(finding.message);
    std::int64_t before = -1;
    for (const Tensor& tensor : made.tensors) {
      CHECK(tensor.order > before);
      before = tensor.order;
      all.push_back(tensor.identity.name + " " + std::to_string(tensor.pieces.size()));
    }
    for (const Identity& identity : made.not_compared) all.push_back(identity.name);
    CHECK(made.findings.size() == 28);  // holes and overlaps
    CHECK(std::ssize(made.tensors) + std::ssize(made.not_compared) == kTensors);
  }
  set_threads(0);
  CHECK(said[0] == said[1]);
}

TEST_CASE("ranges of a block's row-major order") {
  State state;
  std::int64_t begin = 0;
  for (const std::int64_t size : {5, 0, 4, 3}) {
    Record one = record("w", {size}, static_cast<std::int32_t>(state.records.size()));
    one.logical = Shape{4, 4};
    one.box_lo = Extents{1, 0};
    one.flat = FlatRange{{3, 4}, begin};
    begin += size;
    state.records.push_back(std::move(one));
  }
  Record head = record("w", {1, 4}, 4);
  head.logical = Shape{4, 4};
  head.box_lo = Extents{0, 0};
  state.records.push_back(std::move(head));
  SUBCASE("whole") {
    const Assembly made = assemble(std::move(state), {}, {});
    REQUIRE(made.tensors.size() == 1);
    CHECK(made.findings.empty());
    const std::vector<Piece>& pieces = made.tensors[0].pieces;
    REQUIRE(pieces.size() == 4);
    REQUIRE(pieces[0].cells.size() == 2);
    CHECK(pieces[0].cells[0] == Cell{{{1, 0}, {1, 4}}, 0, {4, 1}});
    CHECK(pieces[0].cells[1] == Cell{{{2, 0}, {1, 1}}, 4, {4, 1}});
    REQUIRE(pieces[1].cells.size() == 2);
    CHECK(pieces[1].cells[1] == Cell{{{3, 0}, {1, 1}}, 3, {4, 1}});
    CHECK(pieces[2].cells[0] == Cell{{{3, 1}, {1, 3}}, 0, {4, 1}});
  }
  SUBCASE("one that leaves the block") {
    state.records[3].shape = {4};
    const Assembly made = assemble(std::move(state), {}, {});
    REQUIRE(made.findings.size() == 1);
    CHECK(made.findings[0].message == "w: elements [9, 13) are not inside of a block of 12");
    CHECK(made.findings[0].ranks == std::vector<std::int32_t>{3});
  }
}

TEST_CASE("rows over tp by the ceiling rule, with replicas over dp") {
  State state;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    state.records.push_back(placed("w", "x[tp] y", {rank % 2 == 0 ? 3 : 2, 4}, rank,
                                   {{"dp", rank / 2}, {"tp", rank % 2}}));
  }
  const Assembly made = assemble(std::move(state), mesh_of({{"dp", 2}, {"tp", 2}}), {});
  REQUIRE(made.tensors.size() == 1);
  CHECK(made.findings.empty());
  const Tensor& tensor = made.tensors[0];
  CHECK(tensor.shape == Shape{5, 4});
  REQUIRE(tensor.pieces.size() == 2);
  CHECK(tensor.pieces[1].cells[0].box == Box{{3, 0}, {2, 4}});
  REQUIRE(tensor.replicas.size() == 2);
  CHECK(tensor.replicas[1].rank == 3);
  CHECK(ranks_of(tensor) == std::vector<std::int32_t>{0, 1, 2, 3});
}

}  // namespace
}  // namespace ttcheck::assemble
