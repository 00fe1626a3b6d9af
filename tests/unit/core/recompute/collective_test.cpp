// SPDX-License-Identifier: Apache-2.0
// Collectives laid out from what ranks dumped, and held to their own inputs; the samples' numbers
// are NumPy's (samples/make_collectives.py).

#include <doctest/doctest.h>

#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "core/assemble/assemble.hpp"
#include "core/recompute/collective.hpp"
#include "core/recompute/conservation.hpp"
#include "formats/open.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/project_file.hpp"
#include "tests/support/stored_piece.hpp"

namespace ttcheck::recompute {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

Mesh mesh_of(std::vector<Axis> axes) { return Mesh{std::move(axes), {}, {}}; }

/// Records of ranks that each hold a row of floats whole, without a dims line.
struct Records {
  std::deque<tests::ArraySource> sources;
  std::vector<Tensor> tensors;
  DType dtype = DType::f32;

  Piece piece(const std::vector<float>& values, std::int32_t rank) {
    return tests::stored_piece(sources, rank, dtype, {values.begin(), values.end()});
  }

  void add(Kind kind, const std::vector<std::vector<float>>& by_rank, std::string op,
           std::vector<std::pair<std::string, std::string>> attrs = {}) {
    Tensor& tensor = tensors.emplace_back();
    tensor.identity = {kind == Kind::comm_in ? "m/comm_in.0" : "m/comm_out.0", Phase::comm, 0, 0};
    tensor.kind = kind;
    tensor.dtype = dtype;
    tensor.shape = {static_cast<std::int64_t>(by_rank.front().size())};
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
      auto& to = rank == 0 ? tensor.pieces : tensor.replicas;
      to.push_back(piece(by_rank[rank], static_cast<std::int32_t>(rank)));
    }
    auto trace = std::make_shared<TraceRecord>();
    trace->op = std::move(op);
    trace->attrs = std::move(attrs);
    tensor.trace = std::move(trace);
  }
};

/// One op over the ranks of `mesh`: by group what came of it.
std::vector<Conservation> found(const std::string& op, const std::vector<std::vector<float>>& in,
                                const std::vector<std::vector<float>>& out,
                                std::vector<std::pair<std::string, std::string>> attrs = {},
                                std::vector<Axis> axes = {{"tp", 2}}) {
  Records records;
  records.add(Kind::comm_in, in, op, attrs);
  records.add(Kind::comm_out, out, op, attrs);
  std::vector<Conservation> all;
  for (const Collective& one : collectives_of(records.tensors, mesh_of(std::move(axes)))) {
    double budget = 1e6;
    const auto test = conservation_of(one, budget, {});
    REQUIRE(test);
    all.push_back(*test);
  }
  return all;
}

bool right(const std::vector<Conservation>& all) { return all.size() == 1 && !all[0].broken(); }

TEST_CASE("each collective gives what its inputs say") {
  CHECK(right(found("all_reduce", {{1, 2}, {3, 4}}, {{4, 6}, {4, 6}})));
  CHECK(right(found("all_reduce", {{1, 2}, {3, 4}}, {{2, 3}, {2, 3}}, {{"reduce", "\"avg\""}})));
  CHECK(right(found("all_reduce", {{1, 2}, {3, 4}}, {{2, 3}, {2, 3}}, {{"reduce", "\"mean\""}})));
  CHECK(right(found("all_reduce", {{1, 2}, {3, 4}}, {{4, 6}, {4, 6}}, {{"reduce", "\"sum\""}})));
  CHECK(right(found("all_reduce", {{1, 5}, {3, 4}}, {{3, 5}, {3, 5}}, {{"reduce", "\"max\""}})));
  CHECK(right(found("reduce_scatter", {{1, 2}, {3, 4}}, {{4}, {6}})));
  CHECK(right(found("all_gather", {{1}, {3}}, {{1, 3}, {1, 3}})));
  CHECK(right(found("all_to_all", {{1, 2}, {3, 4}}, {{1, 3}, {2, 4}})));
  CHECK(right(found("broadcast", {{1, 2}, {3, 4}}, {{3, 4}, {3, 4}}, {{"root", "1"}})));
}

TEST_CASE("or the wrong rank, element and error are named") {
  const auto sum = found("all_reduce", {{1, 2}, {3, 4}}, {{4, 6}, {4, 4.5}});
  REQUIRE(sum.size() == 1);
  CHECK(sum[0].broken());
  CHECK(sum[0].ranks == std::vector<std::int32_t>{1});
  CHECK(sum[0].group == std::vector<std::int32_t>{0, 1});
  CHECK(sum[0].index == 1);
  CHECK(sum[0].error == doctest::Approx(1.5));
  CHECK(found("all_to_all", {{1, 2}, {3, 4}}, {{1, 3}, {2, 3}})[0].ranks ==
        std::vector<std::int32_t>{1});
  const auto moved = found("all_gather", {{1}, {3}}, {{1, 3.0000002F}, {1, 3}});
  CHECK(moved[0].broken());  // what only moves is the same to the bit
  CHECK(std::isinf(moved[0].ratio));
}

TEST_CASE("a sum may be off by the rounding of its addends, however small it is") {
  const float small = 1e-8F;  // far below the spacing at 1
  CHECK(right(found("all_reduce", {{1}, {-1 + 1e-7F}}, {{1.5e-7F}, {1.5e-7F}})));
  CHECK(found("all_reduce", {{small}, {-2 * small}}, {{1e-7F}, {1e-7F}})[0].broken());
  CHECK(right(found("all_reduce", {{3e38F}, {3e38F}}, {{kInfinite}, {kInfinite}})));
  CHECK(found("all_reduce", {{1}, {1}}, {{kInfinite}, {2}})[0].broken());
  CHECK(found("all_reduce", {{kInfinite}, {1}}, {{2}, {2}})[0].broken());
}

TEST_CASE("groups run along the axis that is stated, or are not known") {
  const std::vector<Axis> axes = {{"dp", 2}, {"tp", 2}};
  const std::vector<std::vector<float>> in = {{1}, {2}, {10}, {20}};
  const std::vector<std::vector<float>> out = {{3}, {3}, {30}, {31}};
  const auto tp = found("all_reduce", in, out, {{"group", "\"tp\""}}, axes);
  REQUIRE(tp.size() == 2);
  CHECK(!tp[0].broken());
  CHECK(tp[1].broken());
  CHECK(tp[1].group == std::vector<std::int32_t>{2, 3});
  CHECK(found("all_reduce", in, out, {}, axes).empty());
  CHECK(found("all_reduce", in, out, {{"group", "\"ep\""}}, axes).empty());
  CHECK(found("all_reduce", in, out, {{"group", "[0, 7]"}}, axes).empty());
  CHECK(found("all_reduce", in, out, {{"group", "[0, x]"}}, axes).empty());
  const auto listed = found("all_reduce", in, out, {{"group", "[2,3]"}}, axes);
  REQUIRE(listed.size() == 1);
  CHECK(listed[0].ranks == std::vector<std::int32_t>{3});
}

TEST_CASE("a group is stated by its axis or its ranks, or is all of one axis") {
  const std::vector<std::vector<float>> in = {{1}, {2}, {4}}, out = {{7}, {7}, {7}};
  const auto count = [&](std::string group, std::vector<Axis> axes) {
    std::vector<std::pair<std::string, std::string>> attrs;
    if (!group.empty()) attrs.emplace_back("group", std::move(group));
    return found("all_reduce", in, out, attrs, std::move(axes)).size();
  };
  CHECK(count("", {{"tp", 3}}) == 1);
  CHECK(count("", {{"dp", 1}, {"tp", 3}}) == 1);
  CHECK(count("", {{"dp", 3}, {"tp", 3}}) == 0);
  CHECK(count("", {{"tp", 2}}) == 0);  // not all ranks are of it
  CHECK(count("\"tp\"", {{"tp", 2}}) == 0);
  CHECK(count("", {{"tp", 4}}) == 0);
  CHECK(count("[0, 1, 2]", {{"tp", 3}}) == 1);
  CHECK(count("[0,1,2]", {{"tp", 3}}) == 1);
  CHECK(count("[]", {{"tp", 3}}) == 0);
  CHECK(count("3", {{"tp", 3}}) == 0);
  CHECK(count("[0, 1, 2}", {{"tp", 3}}) == 0);
  CHECK(count("{0, 1, 2]", {{"tp", 3}}) == 0);
}

TEST_CASE("arrays that are no row-major run are left out, though copies be alike") {
  struct Row {
    const char* what;
    Shape shape;
    std::vector<Cell> cells;
    std::size_t count;
  };
  const Row rows[] = {
      {"of four numbers", {4}, {}, 1},
      {"row-major", {2, 2}, {{whole({2, 2}), 0, {2, 1}}}, 1},
      {"behind another number", {2, 2}, {{whole({2, 2}), 1, {2, 1}}}, 1},
      {"a dim of one may have any stride", {1, 4}, {{whole({1, 4}), 0, {9, 1}}}, 1},
      {"column-major", {2, 2}, {{whole({2, 2}), 0, {1, 2}}}, 0},
      {"in two parts", {2, 2}, {{{{0, 0}, {1, 2}}, 0, {2, 1}}, {{{1, 0}, {1, 2}}, 2, {2, 1}}}, 0},
      {"one part of it", {2, 2}, {{{{0, 0}, {1, 2}}, 0, {2, 1}}}, 0},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    Records records;
    records.add(Kind::comm_in, {{1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}}, "all_reduce");
    records.add(Kind::comm_out, {{2, 4, 6, 8, 10}, {2, 4, 6, 8, 10}}, "all_reduce");
    for (Tensor& tensor : records.tensors) {
      tensor.shape = row.shape;
      tensor.pieces[0].cells = tensor.replicas[0].cells = row.cells;
    }
    const auto all = collectives_of(records.tensors, mesh_of({{"tp", 2}}));
    REQUIRE(all.size() == row.count);
    double budget = 1e6;
    for (const Collective& one : all) CHECK_FALSE(conservation_of(one, budget, {})->broken());
  }
}

TEST_CASE("a run begins where its cell says") {
  Records records;
  records.add(Kind::comm_in, {{9, 1, 2}, {9, 3, 4}}, "all_reduce");
  records.add(Kind::comm_out, {{4, 6}, {4, 6}}, "all_reduce");
  Tensor& in = records.tensors[0];
  in.shape = {2};
  in.pieces[0].cells = in.replicas[0].cells = {{whole({2}), 1, {1}}};
  const auto all = collectives_of(records.tensors, mesh_of({{"tp", 2}}));
  REQUIRE(all.size() == 1);
  double budget = 1e6;
  CHECK_FALSE(conservation_of(all[0], budget, {})->broken());
}

TEST_CASE("ranks are taken in their order, each once, 4096 at most") {
  Records records;
  records.add(Kind::comm_in, {{1}, {3}}, "all_gather");
  records.add(Kind::comm_out, {{3, 1}, {3, 1}}, "all_gather");
  const auto count = [&](std::int64_t ranks) {
    return collectives_of(records.tensors, mesh_of({{"tp", ranks}})).size();
  };
  for (Tensor& tensor : records.tensors) {
    tensor.pieces[0].rank = 1;
    tensor.replicas[0].rank = 0;
  }
  const auto all = collectives_of(records.tensors, mesh_of({{"tp", 2}}));
  REQUIRE(all.size() == 1);
  CHECK(all[0].group == std::vector<std::int32_t>{0, 1});
  double budget = 1e6;
  CHECK_FALSE(conservation_of(all[0], budget, {})->broken());
  records.tensors[1].replicas[0].rank = 2;  // another one got it
  CHECK(count(2) == 0);
  records.tensors[0].pieces[0].rank = records.tensors[1].pieces[0].rank = kNoRank;
  CHECK(count(2) == 0);
  records = {};
  records.add(Kind::comm_in, {{1}}, "all_reduce");
  records.add(Kind::comm_out, {{1}}, "all_reduce");
  for (std::int32_t rank = 1; rank <= 4096; ++rank) {
    for (Tensor& tensor : records.tensors) {
      tensor.replicas.push_back(tensor.pieces[0]);
      tensor.replicas.back().rank = rank;
    }
    if (rank == 4095) CHECK(count(4096) == 1);
  }
  CHECK(count(4097) == 0);
}

TEST_CASE("where something says how ranks hold a tensor, that counts") {
  struct Row {
    const char* what;
    bool in, out;  ///< laid out by a dims line
    std::size_t width, count;
  };
  const Row rows[] = {
      {"of both", true, true, 2, 1},           {"of what went in", true, false, 2, 1},
      {"of what came out", false, true, 2, 1}, {"of other shapes", true, true, 1, 0},
      {"of neither", false, false, 2, 0},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    Records records;
    records.add(Kind::comm_in, {{1, 2}, {1, 2}}, "");
    records.add(Kind::comm_out,
                {std::vector<float>(row.width, 1), std::vector<float>(row.width, 1)}, "");
    for (const bool out : {false, true}) {
      if (!(out ? row.out : row.in)) continue;
      Tensor& tensor = records.tensors[out ? 1 : 0];
      tensor.pieces.push_back(tensor.replicas[0]);  // a second part, and copies of both
      tensor.pieces[0].cells = {{{{0}, {1}}, 0, {1}}};
      tensor.pieces[1].cells = {{{{1}, {1}}, 1, {1}}};
    }
    const auto all = collectives_of(records.tensors, mesh_of({{"tp", 2}}));
    REQUIRE(all.size() == row.count);
    if (all.empty()) continue;
    CHECK(all[0].op == "collective");
    CHECK(all[0].group.empty());
    CHECK(all[0].input.pieces.size() == (row.in ? 2 : 1));
    CHECK(all[0].output.pieces.size() == (row.out ? 2 : 1));
  }
  Records alone;
  alone.add(Kind::comm_in, {{1}}, "all_reduce");
  alone.add(Kind::comm_out, {{1}}, "all_reduce");
  const auto all = collectives_of(alone.tensors, mesh_of({{"tp", 1}}));
  REQUIRE(all.size() == 1);
  CHECK(all[0].group.empty());
}

TEST_CASE("a collective is two records of one name, whose values are there") {
  struct Row {
    const char* what;
    void (*change)(Tensor& in, Tensor& out);
  };
  const Row rows[] = {
      {"nothing is known of the second", [](Tensor&, Tensor& out) { out.trace = nullptr; }},
      {"statistics of what went in", [](Tensor& in, Tensor&) { in.stored = false; }},
      {"of what came out", [](Tensor&, Tensor& out) { out.stored = false; }},
      {"of another slot", [](Tensor& in, Tensor&) { in.identity.name = "m/comm_in.1"; }},
      {"of another call", [](Tensor& in, Tensor&) { in.identity.call = 1; }},
      {"of no such name", [](Tensor&, Tensor& out) { out.identity.name = "out"; }},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    Records records;
    records.add(Kind::comm_in, {{1}, {3}}, "all_reduce");
    records.add(Kind::comm_out, {{4}, {4}}, "all_reduce");
    CHECK(collectives_of(records.tensors, mesh_of({{"tp", 2}})).size() == 1);
    row.change(records.tensors[0], records.tensors[1]);
    CHECK(collectives_of(records.tensors, mesh_of({{"tp", 2}})).empty());
  }
}

TEST_CASE("values are of the type that ranks hold") {
  for (const DType dtype : {DType::bf16, DType::f16, DType::i32}) {
    INFO(std::string(name(dtype)));
    const float step = dtype == DType::bf16 ? 0x1p-7F : dtype == DType::f16 ? 0x1p-10F : 1;
    for (const float off : {0.0F, step}) {
      Records records;
      records.dtype = dtype;
      records.add(Kind::comm_in, {{1}, {3}}, "all_gather");
      records.add(Kind::comm_out, {{1 + off, 3}, {1, 3}}, "all_gather");
      const auto all = collectives_of(records.tensors, mesh_of({{"tp", 2}}));
      REQUIRE(all.size() == 1);
      double budget = 1e6;
      const auto test = conservation_of(all[0], budget, {});
      REQUIRE(test);
      CHECK(test->broken() == (off > 0));  // what only moves is the same to the bit
      CHECK(test->error == off);
    }
  }
}

TEST_CASE("what fits no op is left out") {
  CHECK(found("all_gather", {{1}, {3}}, {{1, 3, 5}, {1, 3, 5}}).empty());
  CHECK(found("all_to_all", {{1}, {3}}, {{1}, {3}}).empty());
  CHECK(found("broadcast", {{1}, {3}}, {{1}, {1}}).empty());
  CHECK(found("all_reduce", {{1}, {3}}, {{1, 3}, {1, 3}}).empty());
  CHECK(found("reduce_scatter", {{1, 2}, {3, 4}}, {{4, 6}, {4, 6}}).empty());
  CHECK(found("all_to_all", {{1, 2}, {3, 4}}, {{1}, {2}}).empty());
  CHECK(found("broadcast", {{1, 2}, {3, 4}}, {{1}, {1}}, {{"root", "0"}}).empty());
  CHECK(found("all_reduce", {{1}, {3}}, {{4}, {4}, {4}}, {}, {{"tp", 3}}).empty());
  CHECK(found("broadcast", {{1}, {3}}, {{1}, {1}}, {{"root", "9"}}).empty());
  CHECK(found("ring_exchange", {{1}, {3}}, {{3}, {1}}).empty());
  CHECK(found("all_reduce", {{1}, {3}}, {{3}, {3}}, {{"reduce", "\"product\""}}).empty());
}

TEST_CASE("what the module made of it at once, or the reduced gradient") {
  struct Row {
    const char* what;
    Identity identity;
    Kind kind;
    std::int32_t rank = 0;
    bool traced = true, before = false;
    bool result = false;
    bool summed = false, empty = false;  ///< its values are addends, or are not there
  };
  const Identity own = {"m/output.0", Phase::forward, 0, 0};
  const Identity gradient = {"m/main_grad.0", Phase::sync, 0, 0};
  const Row rows[] = {
      {.what = "its output", .identity = own, .kind = Kind::output, .result = true},
      {.what = "a sum", .identity = own, .kind = Kind::output, .result = true, .summed = true},
      {.what = "of no rank", .identity = own, .kind = Kind::output, .empty = true},
      {.what = "of a short name", .identity = {"n/o", Phase::forward, 0, 0}, .kind = Kind::output},
      {.what = "what came before", .identity = own, .kind = Kind::output, .before = true},
      {.what = "on another rank", .identity = own, .kind = Kind::output, .rank = 1},
      {.what = "of no known time", .identity = own, .kind = Kind::output, .traced = false},
      {.what = "another module's",
       .identity = {"n/output.0", Phase::forward, 0, 0},
       .kind = Kind::output},
      {.what = "an input", .identity = {"m/input.0", Phase::forward, 0, 0}, .kind = Kind::input},
      {.what = "another collective's",
       .identity = {"m/comm_out.1", Phase::comm, 0, 0},
       .kind = Kind::comm_out},
      {.what = "its gradient",
       .identity = gradient,
       .kind = Kind::main_grad,
       .rank = 1,
       .result = true},
      {.what = "that of another slot",
       .identity = {"m/main_grad.1", Phase::sync, 0, 0},
       .kind = Kind::main_grad,
       .rank = 1},
      {.what = "before it was reduced",
       .identity = {"m/main_grad.0", Phase::backward, 0, 0},
       .kind = Kind::main_grad,
       .rank = 1},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    Records records;
    records.add(Kind::comm_in, {{1}, {3}}, "all_reduce");
    records.add(Kind::comm_out, {{4}, {4}}, "all_reduce");
    Tensor other = records.tensors.back();
    other.identity = row.identity;
    other.kind = row.kind;
    other.pieces[0].rank = row.rank;
    other.replicas.clear();
    if (!row.traced) other.trace = nullptr;
    if (row.summed) other.terms = {other.pieces};
    if (row.summed || row.empty) other.pieces.clear();
    records.tensors.insert(row.before ? records.tensors.begin() : records.tensors.end(), other);
    const auto all = collectives_of(records.tensors, mesh_of({{"tp", 2}}));
    REQUIRE(all.size() == 1);
    CHECK((all[0].result != nullptr) == row.result);
    if (row.result) CHECK(all[0].result->identity == row.identity);
  }
}

TEST_CASE("the work is bounded, and broken bytes say nothing") {
  Records records;
  records.add(Kind::comm_in, {{1, 2}, {3, 4}}, "all_reduce");
  records.add(Kind::comm_out, {{4, 6}, {4, 6}}, "all_reduce");
  const auto all = collectives_of(records.tensors, mesh_of({{"tp", 2}}));
  REQUIRE(all.size() == 1);
  double budget = 9;
  CHECK(conservation_of(all[0], budget, {}));
  CHECK(budget == 1);
  CHECK_FALSE(conservation_of(all[0], budget, {}));
  budget = 100;
  CHECK_FALSE(conservation_of(all[0], budget, [] { return true; }));
  records.sources[1].broken_from = 0;
  records.sources[1].broken_to = 8;
  CHECK_FALSE(conservation_of(all[0], budget, {}));
}

TEST_CASE("samples: each fault, and nothing else") {
  const Run run = *formats::open(tests::project_file("samples/collectives/tp2"));
  const auto tensors = assemble::assemble(run.open(0), run.mesh, {}).tensors;
  std::map<std::string, std::vector<std::int32_t>> wrong;
  const auto all = collectives_of(tensors, run.mesh);
  CHECK(all.size() == 9);
  for (const Collective& one : all) {
    double budget = 1e6;
    const auto test = conservation_of(one, budget, {});
    REQUIRE(test);
    REQUIRE(one.result);
    if (test->broken()) wrong[one.result->identity.name] = test->ranks;
  }
  const std::map<std::string, std::vector<std::int32_t>> expected = {
      {"layers.0/output.0", {1}},       {"layers.1/output.0", {1}}, {"layers.2/output.0", {0, 1}},
      {"layers.3/output.0", {0}},       {"layers.4/output.0", {1}}, {"layers.5/output.0", {0, 1}},
      {"proj/main_grad.weight", {0, 1}}};
  CHECK(wrong == expected);
}

}  // namespace
}  // namespace ttcheck::recompute
