// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/undeclared.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/record_of.hpp"

namespace ttcheck::assemble {
namespace {

using Records = std::vector<Record>;

/// An undeclared array of one rank.
struct Held {
  std::string name;
  std::int32_t rank = 0;
  Shape shape;
  DType dtype = DType::f32;
  std::string base = {};  ///< CountedOp::base
};

Records records_of(const std::vector<Held>& held) {
  Records records;
  for (const Held& one : held) {
    Record& record = records.emplace_back(tests::undeclared_record(one.name, one.shape, one.rank));
    record.dtype = one.dtype;
    if (one.base.empty()) continue;
    TraceRecord trace;
    trace.counted.base = one.base;
    record.trace = std::make_shared<const TraceRecord>(std::move(trace));
  }
  return records;
}

/// Where an array is put: name, start, shape of the whole; no start: nowhere.
struct Put {
  std::string name;
  std::optional<Extents> lo = {};
  std::optional<Shape> whole = {};

  bool operator==(const Put&) const = default;
};

std::vector<Put> put(const Records& records) {
  std::vector<Put> all;
  for (const Record& record : records) {
    all.push_back({record.identity.name, record.box_lo, record.logical});
  }
  return all;
}

const std::vector<Held> kPair = {{"w", 0, {2}}, {"w", 1, {2}}};
const std::vector<Put> kStood = {{"w", Extents{0}, Shape{4}}, {"w", Extents{2}, Shape{4}}};
const std::vector<Put> kLeft = {{"w"}, {"w"}};

TEST_CASE("tensors of which both sides' ranks hold the same shapes are put rank behind rank") {
  struct Row {
    std::string what;
    std::vector<Held> held;
    std::vector<Put> put;
    bool by_rank = true;
  };
  const std::vector<Row> rows = {
      {"lines", kPair, kStood},
      {"in any order",
       {{"w", 1, {2}}, {"w", 0, {3}}},
       {{"w", Extents{3}, Shape{5}}, {"w", Extents{0}, Shape{5}}}},
      {"tables of other lengths",
       {{"w", 0, {2, 3}}, {"w", 1, {0, 3}}, {"w", 2, {4, 3}}},
       {{"w", Extents{0, 0}, Shape{6, 3}},
        {"w", Extents{2, 0}, Shape{6, 3}},
        {"w", Extents{2, 0}, Shape{6, 3}}}},
      {"numbers",
       {{"w", 0, {}}, {"w", 1, {}}},
       {{"w", Extents{0}, Shape{2}}, {"w", Extents{1}, Shape{2}}}},
      {"tables of other widths",
       {{"w", 0, {2, 3}}, {"w", 1, {2, 4}}},
       {{"w (rank 0)"}, {"w (rank 1)"}},
       false},
      {"a line and a table",
       {{"l.3/output.0", 0, {2}}, {"l.3/output.0", 5, {2, 1}}},
       {{"l.3 (rank 0)/output.0"}, {"l.3 (rank 5)/output.0"}},
       false},
      {"a number and a line",
       {{"a/b/c", 0, {}}, {"a/b/c", 1, {1}}},
       {{"a/b (rank 0)/c"}, {"a/b (rank 1)/c"}},
       false},
      {"of two dtypes",
       {{"w", 0, {2}}, {"w", 1, {2}, DType::bf16}},
       {{"w (rank 0)"}, {"w (rank 1)"}},
       false},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Records a = records_of(row.held);
    Records b = records_of(row.held);
    CHECK(place_by_rank(a, b) == 1);
    for (const Records* side : {&a, &b}) {
      CHECK(put(*side) == row.put);
      for (const Record& record : *side) {
        CHECK_FALSE(record.undeclared);
        CHECK(record.by_rank == row.by_rank);
        CHECK_FALSE(record.by_shape);
      }
    }
  }
}

TEST_CASE("a number that stands in a line keeps its place in the storage") {
  Records a = records_of({{"w", 0, {}}, {"w", 1, {}}});
  Records b = records_of({{"w", 0, {}}, {"w", 1, {}}});
  a[1].piece.cells = {{{{}, {}}, 7, {}}};
  place_by_rank(a, b);
  CHECK(a[1].shape == Shape{1});
  CHECK(a[1].piece.cells == std::vector<Cell>{{{{0}, {1}}, 7, {1}}});
  CHECK(a[0].piece.cells.empty());
}

TEST_CASE("tensors that the ranks of the sides hold in other ways stay") {
  struct Row {
    std::string what;
    std::vector<Held> a, b;
  };
  const std::vector<Row> rows = {
      {"nothing", {}, {}},
      {"nothing on one side", kPair, {}},
      {"nothing on the other", {}, kPair},
      {"of one rank", {{"w", 0, {2}}}, {{"w", 0, {2}}}},
      {"another name", kPair, {{"v", 0, {2}}, {"v", 1, {2}}}},
      {"another shape", kPair, {{"w", 0, {2}}, {"w", 1, {3}}}},
      {"another dtype", kPair, {{"w", 0, {2}}, {"w", 1, {2}, DType::bf16}}},
      {"another rank", kPair, {{"w", 0, {2}}, {"w", 2, {2}}}},
      {"a rank more", kPair, {{"w", 0, {2}}, {"w", 1, {2}}, {"w", 2, {2}}}},
      {"a rank less", kPair, {{"w", 0, {2}}}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Records a = records_of(row.a);
    Records b = records_of(row.b);
    const auto before_a = put(a), before_b = put(b);
    CHECK(place_by_rank(a, b) == 0);
    CHECK(put(a) == before_a);
    CHECK(put(b) == before_b);
    for (const Record& record : a) CHECK(record.undeclared);
    for (const Record& record : b) CHECK(record.undeclared);
  }
}

TEST_CASE("declared records are not put anywhere") {
  Records a = records_of(kPair);
  Records b = records_of(kPair);
  for (Record& record : a) record.undeclared = false;
  CHECK(place_by_rank(a, b) == 0);
  a[0].undeclared = true;  // alone then
  CHECK(place_by_rank(a, b) == 0);
  CHECK(put(a) == kLeft);
  CHECK(put(b) == kLeft);
}

TEST_CASE("where most tensors are put by rank, ops named by a counter are too") {
  struct Row {
    std::string what;
    std::vector<Held> a, b;
    std::int64_t placed;
    std::vector<Put> last_a, last_b;  ///< of the last two records
  };
  const std::vector<Held> u = {{"u", 0, {1}}, {"u", 1, {1}}};
  const std::vector<Held> v = {{"v", 0, {1}}, {"v", 1, {1}}};
  const auto with = [](std::vector<Held> all, const std::vector<Held>& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::vector<Held> op = {{"w", 0, {2}, DType::f32, "add"}, {"w", 1, {2}, DType::f32, "add"}};
  const std::vector<Held> longer = {{"w", 0, {3}, DType::f32, "add"},
                                    {"w", 1, {3}, DType::f32, "add"}};
  const std::vector<Put> stood_longer = {{"w", Extents{0}, Shape{6}}, {"w", Extents{3}, Shape{6}}};
  const std::vector<Put> u_stood = {{"u", Extents{0}, Shape{2}}, {"u", Extents{1}, Shape{2}}};
  const std::vector<Held> of_one = {{"w", 0, {2}, DType::f32, "add"}};
  const std::vector<Row> rows = {
      {"of one side", with(u, op), u, 1, kStood, u_stood},
      {"of the other side", u, with(u, op), 1, u_stood, kStood},
      {"no op", with(u, kPair), u, 1, kLeft, u_stood},
      {"of another shape there, as often", with(u, op), with(u, longer), 1, kLeft, kLeft},
      {"of another shape there", with(with(u, v), op), with(with(u, v), longer), 2, kStood,
       stood_longer},
      {"nothing else", op, longer, 0, kLeft, kLeft},
      {"of one rank",
       with(with(u, v), of_one),
       with(with(u, v), of_one),
       2,
       {{"v", Extents{1}, Shape{2}}, {"w"}},
       {{"v", Extents{1}, Shape{2}}, {"w"}}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Records a = records_of(row.a);
    Records b = records_of(row.b);
    CHECK(place_by_rank(a, b) == row.placed);
    CHECK(put({a.end() - 2, a.end()}) == row.last_a);
    CHECK(put({b.end() - 2, b.end()}) == row.last_b);
  }
}

TEST_CASE("parts are put where the whole of the other side tells") {
  struct Row {
    std::string what;
    std::vector<Axis> axes;  ///< of four ranks
    std::vector<Held> parts, wholes;
    std::vector<Extents> starts;  ///< none: they are not placed
    bool undeclared = false;      ///< still: copies, or addends
  };
  const std::vector<Held> whole = {{"w", 0, {4}}};
  const std::vector<Axis> tp = {{"dp", 1}, {"tp", 4}};
  const std::vector<Axis> two = {{"pp", 4}, {"tp", 2}};
  const std::vector<Held> four = {{"w", 0, {2}}, {"w", 1, {2}}, {"w", 2, {2}}, {"w", 3, {2}}};
  const std::vector<Row> rows = {
      {"halves", {}, kPair, whole, {{0}, {2}}},
      {"a third and the rest", {}, {{"w", 0, {1}}, {"w", 1, {3}}}, whole, {{0}, {1}}},
      {"in any order", {}, {{"w", 1, {1}}, {"w", 0, {3}}}, whole, {{3}, {0}}},
      {"one of nothing", {}, {{"w", 0, {0}}, {"w", 1, {4}}}, whole, {}},
      {"columns", {}, {{"w", 0, {2, 3}}, {"w", 1, {2, 1}}}, {{"w", 0, {2, 4}}}, {{0, 0}, {0, 3}}},
      {"each twice", two, four, whole, {{0}, {2}, {0}, {2}}, true},
      {"by which axis, nothing tells", {{"dp", 2}, {"tp", 2}}, four, whole, {}},
      {"no axis of two", tp, four, whole, {}},
      {"no mesh", {}, four, whole, {}},
      {"not all ranks are there",
       tp,
       {{"w", 0, {1}}, {"w", 1, {1}}, {"w", 3, {1}}},
       whole,
       {{0}, {1}, {3}}},
      {"one alone", two, {{"w", 1, {2}}}, whole, {{2}}},
      {"not of one length", two, {{"w", 0, {2}}, {"w", 1, {1}}}, whole, {}},
      {"not as often", two, {{"w", 0, {2}}}, {{"w", 0, {5}}}, {}},
      {"of nothing", two, {{"w", 0, {0}}}, whole, {}},
      {"as large as the whole", {}, {{"w", 0, {4}}, {"w", 1, {4}}}, whole, {}},
      {"smaller in two dimensions",
       {},
       {{"w", 0, {2, 2}}, {"w", 1, {2, 2}}},
       {{"w", 0, {4, 4}}},
       {}},
      {"smaller in one each", {}, {{"w", 0, {2, 4}}, {"w", 1, {4, 2}}}, {{"w", 0, {4, 4}}}, {}},
      {"of fewer dimensions", {}, {{"w", 0, {2}}, {"w", 1, {2}}}, {{"w", 0, {4, 2}}}, {}},
      {"of more dimensions", {}, {{"w", 0, {2, 1}}, {"w", 1, {2, 1}}}, whole, {}},
      {"another name", {}, kPair, {{"v", 0, {4}}}, {}},
      {"the whole is in parts, too", {}, kPair, {{"w", 0, {4}}, {"w", 1, {4}}}, {}},
      {"the whole is there three times",
       {},
       kPair,
       {{"w", 0, {4}}, {"w", 1, {4}}, {"w", 2, {4}}},
       {}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Mesh mesh;
    mesh.axes = row.axes;
    Records parts = records_of(row.parts);
    for (Record& part : parts) {
      if (!row.axes.empty()) part.at = mesh.coordinates(part.piece.rank);
    }
    const Records wholes = records_of(row.wholes);
    CHECK(place_by_shape(parts, wholes, mesh) == (row.starts.empty() ? 0 : 1));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      INFO("record ", i);
      const bool placed = !row.starts.empty();
      CHECK(parts[i].by_shape == placed);
      CHECK(parts[i].undeclared == (!placed || row.undeclared));
      CHECK(parts[i].box_lo == (placed ? std::optional(row.starts[i]) : std::nullopt));
      CHECK(parts[i].logical == (placed ? std::optional(wholes[0].shape) : std::nullopt));
    }
  }
}

TEST_CASE("each tensor is placed by itself, declared ones are not") {
  const Records wholes = records_of({{"u", 0, {2}}, {"v", 0, {2}}, {"w", 0, {4}}});
  Records parts =
      records_of({{"u", 0, {1}}, {"w", 0, {2}}, {"v", 0, {1}}, {"w", 1, {2}}, {"u", 1, {1}}});
  CHECK(place_by_shape(parts, wholes, {}) == 2);
  CHECK(parts[3].box_lo == Extents{2});
  CHECK(parts[4].box_lo == Extents{1});
  CHECK_FALSE(parts[2].box_lo);
  Records declared = records_of(kPair);
  for (Record& record : declared) record.undeclared = false;
  CHECK(place_by_shape(declared, wholes, {}) == 0);
  declared.push_back(tests::undeclared_record("u", {1}, 0));
  CHECK(place_by_shape(declared, wholes, {}) == 0);
  CHECK_FALSE(declared[0].box_lo);
}

TEST_CASE("what hashes alone tell nothing of is left out") {
  struct Told {
    std::string name;
    std::int32_t rank;
    std::string hash;
    std::string base = {};
    bool stored = false, traced = true, l2 = false, stats = false, undeclared = true;
  };
  struct Row {
    std::string what;
    std::vector<Told> told;
    std::vector<std::string> left_out;
  };
  const std::vector<Row> rows = {
      {"none", {}, {}},
      {"one hash", {{"w", 0, "a"}, {"w", 1, "a"}}, {}},
      {"two hashes", {{"w", 0, "a"}, {"w", 1, "b"}}, {"w", "w"}},
      {"the last of three", {{"w", 2, "b"}, {"w", 1, "a"}, {"w", 0, "a"}}, {"w", "w", "w"}},
      {"one of two tensors",
       {{"w", 0, "a"}, {"v", 0, "c"}, {"w", 1, "b"}, {"v", 1, "c"}},
       {"w", "w"}},
      {"of different tensors", {{"w", 0, "a"}, {"v", 1, "b"}}, {}},
      {"with bytes", {{"w", 0, "a", "", true}, {"w", 1, "b", "", true}}, {}},
      {"of one with bytes", {{"w", 0, "a"}, {"w", 1, "b", "", true}}, {}},
      {"no trace", {{"w", 0, "a", "", false, false}, {"w", 1, "b", "", false, false}}, {}},
      {"with a norm", {{"w", 0, "a", "", false, true, true}, {"w", 1, "b"}}, {}},
      {"with statistics but a norm",
       {{"w", 0, "a", "", false, true, false, true}, {"w", 1, "b"}},
       {"w", "w"}},
      {"declared",
       {{"w", 0, "a", "", false, true, false, false, false},
        {"w", 1, "b", "", false, true, false, false, false}},
       {}},
      {"on one of two ranks", {{"w", 0, "a"}, {"v", 1, "a"}}, {}},
      {"an op by a counter, on all ranks", {{"w", 0, "a", "add"}, {"w", 1, "a", "add"}}, {}},
      {"an op by a counter, on one of two", {{"w", 0, "a", "add"}, {"v", 1, "a"}}, {"w"}},
      {"an op by a counter, on two of three",
       {{"w", 0, "a", "add"},
        {"w", 1, "a", "add"},
        {"v", 2, "a", "", true, false, false, false, false}},
       {"w", "w"}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Records records;
    for (const Told& one : row.told) {
      Record& record = records.emplace_back(tests::undeclared_record(one.name, {2}, one.rank));
      record.undeclared = one.undeclared;
      record.stored = one.stored;
      if (!one.traced) continue;
      TraceRecord trace;
      trace.hash = one.hash;
      trace.counted.base = one.base;
      if (one.stats || one.l2) trace.stats.emplace();
      if (one.l2) trace.stats->l2 = 1;
      record.trace = std::make_shared<const TraceRecord>(std::move(trace));
    }
    const std::int64_t count = leave_out_unlike(records);
    std::vector<std::string> left_out;
    for (const Record& record : records) {
      if (record.placement && record.placement->rep_any) left_out.push_back(record.identity.name);
    }
    CHECK(left_out == row.left_out);
    CHECK(count == (row.left_out.empty() ? 0 : 1));
  }
}

}  // namespace
}  // namespace ttcheck::assemble
