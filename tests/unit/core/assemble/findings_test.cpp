// SPDX-License-Identifier: Apache-2.0
// What assemble says of records that do not make whole tensors, and of those that are not boxes
// alone.

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/assemble/assemble.hpp"

namespace ttcheck::assemble {
namespace {

/// Records of one line over a mesh, in order of rank; an absent shape is a record that is not
/// there.
struct Scene {
  Mesh mesh;
  State state;

  explicit Scene(std::vector<Axis> axes) { mesh.axes = std::move(axes); }

  Record& add(const std::string& dims, Shape shape, std::int32_t rank, const char* tensor = "w") {
    Record& record = state.records.emplace_back();
    record.identity.name = tensor;
    record.shape = std::move(shape);
    record.piece.rank = rank;
    record.placement = std::make_shared<const Placement>(parse_dims(dims));
    record.at = mesh.coordinates(rank);
    return record;
  }

  Assembly made(const Numbers& numbers = {}) { return assemble(std::move(state), mesh, numbers); }
};

TEST_CASE("a rank without a file is said once and explains its holes") {
  Scene scene({{"tp", 4}});
  for (const char* tensor : {"a", "b"}) {
    for (const std::int32_t rank : {0, 1, 3}) scene.add("x[tp] y", {2, 3}, rank, tensor);
  }
  scene.state.missing_ranks = {2};
  const Assembly made = scene.made();
  REQUIRE(made.tensors.size() == 2);
  CHECK(made.tensors[0].shape == Shape{8, 3});
  CHECK(made.tensors[0].holes == std::vector<Box>{{{4, 0}, {2, 3}}});
  REQUIRE(made.findings.size() == 1);
  CHECK(made.findings[0].code == Code::missing_rank);
  CHECK(made.findings[0].ranks == std::vector<std::int32_t>{2});
  CHECK(made.findings[0].incomplete);
  CHECK(made.findings[0].message == "rank 2 of 4 holds nothing; tensors with holes for it: 2");
}

TEST_CASE("ranks that write nothing by design are not missing, and need no copies") {
  Scene scene({{"dp", 2}, {"tp", 2}});
  for (const std::int32_t rank : {0, 1}) scene.add("x[tp]", {2}, rank);
  scene.state.silent_ranks = {2, 3};
  const Assembly made = scene.made();
  CHECK(made.findings.empty());
  REQUIRE(made.tensors.size() == 1);
  CHECK(made.tensors[0].holes.empty());
}

TEST_CASE("of very many missing ranks the first are listed, and that there are more") {
  Scene scene({{"dp", 1'000'000}});
  scene.add("x", {3}, 0);
  const Assembly made = scene.made();
  CHECK(made.findings.size() == kMaxRanksListed + 1);
  CHECK(made.findings[0].message ==
        "of 1000000 ranks 1024 and more hold nothing, the first of them are listed");
  CHECK(made.findings[0].incomplete);
}

TEST_CASE("a rank whose file cannot be read is said once, as what is wrong with the file") {
  Scene scene({{"tp", 3}});
  scene.add("x[tp]", {2}, 0);
  scene.add("x[tp]", {2}, 2);
  scene.state.unreadable_ranks.emplace(1, Error("truncated", {"r1.pt", 7, {}}));
  const Assembly made = scene.made();
  REQUIRE(made.findings.size() == 1);
  CHECK(made.findings[0].code == Code::unreadable);
  CHECK(made.findings[0].ranks == std::vector<std::int32_t>{1});
  CHECK(made.findings[0].where == Where{"r1.pt", 7, {}});
  CHECK(made.findings[0].incomplete);
  CHECK(made.findings[0].message == "truncated; tensors with holes for rank 1 of 3: 1");
}

TEST_CASE("a short last chunk tells the length when another rank is missing") {
  Scene scene({{"tp", 4}});
  scene.add("x[tp]", {8}, 1);
  scene.add("x[tp]", {8}, 2);
  scene.add("x[tp]", {7}, 3);
  const Assembly made = scene.made();
  REQUIRE(made.tensors.size() == 1);
  CHECK(made.tensors[0].shape == Shape{31});
  CHECK(made.tensors[0].holes == std::vector<Box>{{{0}, {8}}});
  REQUIRE(made.findings.size() == 1);
  CHECK(made.findings[0].code == Code::missing_rank);
}

TEST_CASE("a length that missing ranks leave open may be any that what is there allows") {
  const auto held = [](const std::vector<std::int64_t>& lengths, std::int64_t ranks,
                       const char* dims) {
    Scene scene({{"tp", ranks}});
    for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
      if (lengths[rank] == 0) continue;
      scene.add(dims, {lengths[rank], 2}, static_cast<std::int32_t>(rank));
    }
    return scene.made();
  };
  const Assembly open = held({3, 3, 3}, 4, "x[tp] y");
  REQUIRE(open.tensors.size() == 1);
  CHECK(open.tensors[0].shape == Shape{12, 2});
  for (const auto& [length, alike] : {std::pair{8, false}, {9, true}, {12, true}, {13, false}}) {
    CHECK(may_be_of_one_shape(open, 0, held({length}, 1, "x y"), 0) == alike);
    CHECK(may_be_of_one_shape(held({length}, 1, "x y"), 0, open, 0) == alike);
  }
  const Assembly told = held({0, 8, 8, 7}, 4, "x[tp] y");
  CHECK_FALSE(may_be_of_one_shape(told, 0, held({30}, 1, "x y"), 0));

  Scene flat({{"tp", 3}});
  for (const std::int32_t rank : {0, 2}) flat.add("flat[tp]", {4}, rank);
  const Assembly row = flat.made();
  REQUIRE(row.tensors.size() == 1);
  CHECK(row.tensors[0].shape == Shape{12});
  CHECK(row.findings.size() == 1);
  Scene whole({{"tp", 1}});
  whole.add("x", {11}, 0);
  CHECK(may_be_of_one_shape(row, 0, whole.made(), 0));
}

TEST_CASE("a stated length needs no guess when a rank is missing") {
  Scene scene({{"tp", 2}, {"dp", 2}});
  for (const auto& [rank, length] : {std::pair{0, 3}, {2, 3}, {3, 2}}) {
    scene.add("x[tp,dp]", {length}, rank).logical = Shape{10};
  }
  const Assembly made = scene.made();
  REQUIRE(made.findings.size() == 1);
  CHECK(made.findings[0].code == Code::missing_rank);
  REQUIRE(made.tensors.size() == 1);
  CHECK(made.tensors[0].holes.size() == 1);
}

TEST_CASE("a hole that no missing rank explains is an omission") {
  Scene scene({{"tp", 2}});
  scene.add("x[tp]", {4}, 0, "a");
  scene.add("x[tp]", {4}, 0, "b");
  scene.add("x[tp]", {4}, 1, "b");
  const Assembly made = scene.made();
  REQUIRE(made.tensors.size() == 2);
  CHECK(made.tensors[0].holes.size() == 1);
  REQUIRE(made.findings.size() == 1);
  CHECK(made.findings[0].code == Code::omission);
  CHECK(made.findings[0].tensor == "a");
  CHECK(made.findings[0].message == "4 of 8 elements of a are on no rank");
}

TEST_CASE("a few elements that declare very many are not walked") {
  const auto declared = [](std::int64_t elements) {
    State state;
    for (const char* name : {"huge", "small"}) {
      Record& record = state.records.emplace_back();
      record.identity.name = name;
      record.shape = {4};
      record.logical = Shape{std::string_view(name) == "huge" ? elements : 4};
      record.box_lo = Extents{0};
    }
    return assemble(std::move(state), {}, {});
  };
  const Assembly made = declared(std::int64_t{1} << 40);
  REQUIRE(made.tensors.size() == 1);
  CHECK(made.tensors[0].identity.name == "small");
  CHECK(made.unreadable == 1);
  REQUIRE(made.findings.size() == 1);
  CHECK(made.findings[0].code == Code::shape_or_dtype);
  CHECK(made.findings[0].message == "huge declares 1099511627776 elements and holds 4 of them");
  CHECK(declared(std::int64_t{1} << 20).tensors.size() == 2);  // most of it missing, yet walked
}

TEST_CASE("a copy that a rank lacks is a warning, absence along pp is fine") {
  Scene scene({{"pp", 2}, {"dp", 2}});
  for (const std::int32_t rank : {0, 1}) scene.add("x", {4}, rank, "first");
  for (const std::int32_t rank : {2}) scene.add("x", {4}, rank, "second");
  scene.add("x", {4}, 3, "third");
  scene.add("x", {4}, 2, "third");
  const Assembly made = scene.made();
  REQUIRE(made.findings.size() == 1);
  CHECK(made.findings[0].severity == Severity::warning);
  CHECK(made.findings[0].tensor == "second");
  CHECK(made.findings[0].ranks == std::vector<std::int32_t>{3});
}

TEST_CASE("shapes and dtypes that do not match are TT307, the rest is kept") {
  Scene scene({{"tp", 2}});
  scene.add("x[tp] y", {2, 3}, 0);
  scene.add("x[tp] y", {2, 4}, 1);
  scene.add("x[tp:even]", {3}, 0, "odd");
  scene.add("x[tp:even]", {2}, 1, "odd");
  scene.add("x", {2}, 0, "types");
  scene.add("x", {2}, 1, "types").dtype = DType::bf16;
  scene.add("x[tp:pad=n]", {2}, 0, "unknown");
  const Assembly made = scene.made();
  CHECK(made.tensors.size() == 2);
  CHECK(made.unreadable == 2);
  REQUIRE(made.findings.size() == 5);
  for (const Finding& finding : made.findings) CHECK(finding.code == Code::shape_or_dtype);
  CHECK(made.findings[0].message ==
        "w: shape [2, 4] does not match 'x[tp] y': dimension 1 has 4 here, expected 3 of 3");
  CHECK(made.findings[0].ranks == std::vector<std::int32_t>{1});
  CHECK(made.tensors[0].holes.size() == 1);
}

TEST_CASE("overlap and repetition are TT504") {
  State state;
  for (const std::int64_t lo : {0, 1, 3}) {
    Record& record = state.records.emplace_back();
    record.identity.name = std::string("w");
    record.shape = {2};
    record.logical = Shape{5};
    record.box_lo = Extents{lo};
  }
  state.records.push_back(state.records[0]);
  state.records.back().identity.name = std::string("v");
  state.records.back().box_lo.reset();
  state.records.back().logical.reset();
  state.records.push_back(state.records.back());
  const Assembly made = assemble(std::move(state), {}, {});
  REQUIRE(made.findings.size() == 2);
  CHECK(made.findings[0].code == Code::overlap);
  CHECK(made.findings[0].tensor == "w");
  CHECK(made.findings[1].message ==
        "v is there twice: expected one array, the later one is left out");
  CHECK(made.findings[1].incomplete);
}

TEST_CASE("addends over an axis are terms, their copies are kept apart") {
  Scene scene({{"dp", 2}, {"tp", 2}});
  for (std::int32_t rank = 0; rank < 4; ++rank) scene.add("x # tp:partial=avg", {3}, rank);
  const Assembly made = scene.made();
  CHECK(made.findings.empty());
  REQUIRE(made.tensors.size() == 1);
  const Tensor& tensor = made.tensors[0];
  CHECK(tensor.reduce == Reduce::avg);
  CHECK(tensor.pieces.empty());
  REQUIRE(tensor.terms.size() == 2);
  CHECK(tensor.terms[1][0].rank == 1);
  CHECK(tensor.term_replicas[1][0].rank == 3);
  CHECK(ranks_of(tensor).size() == 4);
}

TEST_CASE("an addend that is not there leaves nothing to compare") {
  Scene scene({{"tp", 2}});
  scene.add("x # tp:partial", {3}, 0);
  scene.add("x", {3}, 1, "other");
  scene.add("x", {3}, 0, "other");
  const Assembly made = scene.made();
  REQUIRE(made.findings.size() == 1);
  CHECK(made.findings[0].message == "1 of 2 addends of w are there");
  CHECK(made.tensors[0].holes == std::vector<Box>{{{0}, {3}}});
}

TEST_CASE("along pp those stages add that have it, tied embeddings the first and the last") {
  Scene scene({{"pp", 3}});
  for (const std::int32_t rank : {0, 2}) scene.add("x # pp:partial", {3}, rank);
  scene.add("x", {3}, 1, "other");
  const Assembly made = scene.made();
  CHECK(made.findings.empty());
  CHECK(made.tensors[0].terms.size() == 2);
  CHECK(made.tensors[0].holes.empty());
}

TEST_CASE("micro-batches are shards, uneven ones are joined in order") {
  Scene scene({});
  for (const std::int64_t rows : {3, 1, 2}) {
    Record& record = scene.add("b[mb] h", {rows, 2}, 0);
    record.identity.microbatch = static_cast<std::int32_t>(scene.state.records.size()) - 1;
  }
  const Assembly made = scene.made();
  CHECK(made.findings.empty());
  REQUIRE(made.tensors.size() == 1);
  CHECK(made.tensors[0].identity.microbatch == 0);
  CHECK(made.tensors[0].shape == Shape{6, 2});
  REQUIRE(made.tensors[0].pieces.size() == 3);
  CHECK(made.tensors[0].pieces[2].cells[0].box == Box{{4, 0}, {2, 2}});
}

TEST_CASE("rep=any is not among the tensors") {
  Scene scene({{"tp", 2}});
  scene.add("x # rep=any", {3}, 0);
  scene.add("x # rep=any", {4}, 1);
  const Assembly made = scene.made();
  CHECK(made.tensors.empty());
  REQUIRE(made.not_compared.size() == 1);
  CHECK(made.not_compared[0].name == "w");
  CHECK(made.findings.empty());
}

TEST_CASE("a view of the storage goes with its shard") {
  Scene scene({{"tp", 2}});
  for (const std::int32_t rank : {0, 1}) {  // each stored column by column
    scene.add("x[tp] y", {2, 3}, rank).piece.cells = {{{{0, 0}, {2, 3}}, 5, {1, 2}}};
  }
  const Assembly made = scene.made();
  REQUIRE(made.tensors.size() == 1);
  CHECK(made.tensors[0].pieces[1].cells == std::vector<Cell>{{{{2, 0}, {2, 3}}, 5, {1, 2}}});
}

}  // namespace
}  // namespace ttcheck::assemble
