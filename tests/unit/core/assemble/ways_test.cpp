// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/ways.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "core/model/gather.hpp"
#include "tests/support/held_tensor.hpp"

namespace ttcheck::assemble {
namespace {

using tests::HeldTensor;
using Row = std::vector<float>;
using Axes = std::vector<std::string_view>;

Mesh mesh_of(std::vector<Axis> axes) {
  Mesh mesh;
  mesh.axes = std::move(axes);
  return mesh;
}

/// Rank r holds the numbers 100 r, 100 r + 1, ...
HeldTensor held_by(int ranks, const Shape& shape, std::string name = "w") {
  std::vector<Row> by_rank;
  for (int rank = 0; rank < ranks; ++rank) {
    Row& numbers = by_rank.emplace_back(static_cast<std::size_t>(element_count(shape)));
    std::iota(numbers.begin(), numbers.end(), 100.0F * static_cast<float>(rank));
  }
  HeldTensor held(shape, by_rank);
  held.tensor.identity.name = std::move(name);
  return held;
}

Row numbers_of(const Tensor& tensor) {
  Row numbers(static_cast<std::size_t>(element_count(tensor.shape)));
  gather(tensor, 0, std::ssize(numbers), std::as_writable_bytes(std::span(numbers)));
  return numbers;
}

std::vector<std::int32_t> ranks_in(const std::vector<Piece>& pieces) {
  std::vector<std::int32_t> ranks;
  for (const Piece& piece : pieces) ranks.push_back(piece.rank);
  return ranks;
}

TEST_CASE("a tensor may be cut along each axis that is as often as large as it is smaller") {
  const HeldTensor held = held_by(12, {1, 2});
  const Mesh mesh = mesh_of({{"dp", 2}, {"pp", 3}, {"tp", 2}});
  CHECK(axes_of_cut(held.tensor, {2, 2}, mesh) == Axes{"dp", "tp"});
  CHECK(axes_of_cut(held.tensor, {1, 6}, mesh) == Axes{"pp"});
  CHECK(axes_of_cut(held.tensor, {1, 2}, mesh).empty());  // not smaller
  CHECK(axes_of_cut(held.tensor, {4, 2}, mesh).empty());  // no axis of 4
  CHECK(axes_of_cut(held.tensor, {1, 5}, mesh).empty());  // not a multiple
  CHECK(axes_of_cut(held.tensor, {2, 4}, mesh).empty());  // smaller in two dimensions
  CHECK(axes_of_cut(held.tensor, {2}, mesh).empty());
  CHECK(axes_of_cut(held.tensor, {2, 2}, mesh_of({{"tp", 2}})).empty());  // ranks beyond the mesh
  Tensor declared = held.tensor;
  declared.undeclared = false;
  CHECK(axes_of_cut(declared, {2, 2}, mesh).empty());
}

TEST_CASE("cut along an axis, ranks of one coordinate hold the same part") {
  const HeldTensor held = held_by(4, {1, 2});
  const Mesh mesh = mesh_of({{"dp", 2}, {"tp", 2}});
  const auto by_tp = cut_along(held.tensor, {2, 2}, mesh, "tp");
  REQUIRE(by_tp);
  CHECK(numbers_of(*by_tp) == Row{0, 1, 100, 101});
  CHECK(ranks_in(by_tp->pieces) == std::vector<std::int32_t>{0, 1});
  CHECK(ranks_in(by_tp->replicas) == std::vector<std::int32_t>{2, 3});
  CHECK(by_tp->undeclared);
  const auto by_dp = cut_along(held.tensor, {1, 4}, mesh, "dp");
  REQUIRE(by_dp);
  CHECK(numbers_of(*by_dp) == Row{0, 1, 200, 201});
  const HeldTensor lost = held_by(2, {1, 2});  // the ranks at dp=1 have none
  CHECK(cut_along(lost.tensor, {2, 2}, mesh, "tp"));
  CHECK_FALSE(cut_along(lost.tensor, {2, 2}, mesh, "dp"));
}

TEST_CASE("sums over one axis, over each other, and over all") {
  const HeldTensor held = held_by(4, {2});
  const std::vector<Tensor> sums = as_addends(held.tensor, mesh_of({{"dp", 2}, {"tp", 2}}));
  REQUIRE(sums.size() == 3);
  CHECK(numbers_of(sums[0]) == Row{200, 202});  // ranks 0 and 2
  CHECK(ranks_in(sums[0].term_replicas.at(1)) == std::vector<std::int32_t>{3});
  CHECK(numbers_of(sums[1]) == Row{100, 102});  // ranks 0 and 1
  CHECK(ranks_in(sums[1].term_replicas.at(1)) == std::vector<std::int32_t>{3});
  CHECK(numbers_of(sums[2]) == Row{600, 604});
  CHECK(sums[2].term_replicas.at(3).empty());

  const std::vector<Tensor> plain = as_addends(held.tensor, {});
  REQUIRE(plain.size() == 1);
  CHECK(numbers_of(plain[0]) == Row{600, 604});
}

TEST_CASE("of a tensor that is cut along one axis, addends lie along the others alone") {
  const HeldTensor held = held_by(4, {1, 2});
  const Mesh mesh = mesh_of({{"dp", 2}, {"tp", 2}});
  const auto cut = cut_along(held.tensor, {2, 2}, mesh, "tp");
  REQUIRE(cut);
  const std::vector<Tensor> sums = as_addends(*cut, mesh);
  REQUIRE(sums.size() == 1);
  CHECK(numbers_of(sums[0]) == Row{200, 202, 300 + 100, 301 + 101});
}

TEST_CASE("integers, what is declared and what one rank holds are no sums") {
  const Mesh mesh = mesh_of({{"tp", 2}});
  const HeldTensor held = held_by(2, {2});
  Tensor exact = held.tensor;
  exact.dtype = DType::i64;
  CHECK(as_addends(exact, mesh).empty());
  Tensor declared = held.tensor;
  declared.undeclared = false;
  CHECK(as_addends(declared, mesh).empty());
  Tensor lost = held.tensor;
  lost.stored = false;
  CHECK(as_addends(lost, mesh).empty());
  Tensor summed = held.tensor;
  summed.reduce = Reduce::sum;
  CHECK(as_addends(summed, mesh).empty());
  Tensor nowhere = held.tensor;
  nowhere.pieces.front().rank = kNoRank;
  CHECK(as_addends(nowhere, mesh).empty());
  CHECK(as_addends(held_by(1, {2}).tensor, mesh).empty());
  CHECK(as_addends(held_by(3, {2}).tensor, mesh).empty());  // a rank beyond the mesh
}

TEST_CASE("addends lie along each set of at most four axes, smaller sets first") {
  std::vector<Axis> axes;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    axes.push_back({name, 2});
    const int ranks = 1 << axes.size();
    const std::vector<Tensor> sums = as_addends(held_by(ranks, {1}).tensor, mesh_of(axes));
    std::vector<std::size_t> addends;
    for (const Tensor& sum : sums) addends.push_back(sum.terms.size());
    const std::vector<std::vector<std::size_t>> by_axes = {
        {2}, {2, 2, 4}, {2, 2, 2, 4, 4, 4, 8}, {2, 2, 2, 2, 4, 4, 4, 4, 4, 4, 8, 8, 8, 8, 16}, {}};
    CHECK(addends == by_axes[axes.size() - 1]);
  }
  // An axis of one rank has no addends.
  CHECK(as_addends(held_by(2, {1}).tensor, mesh_of({{"pp", 1}, {"tp", 2}})).size() == 1);
}

TEST_CASE("fused parts, of which each rank holds a range") {
  const Mesh mesh = mesh_of({{"tp", 2}});
  const auto fused = [&](const HeldTensor& held) {
    const std::int64_t length = held.tensor.shape[0];
    return cut_along(held.tensor, {2 * length}, mesh, "tp").value();
  };
  const HeldTensor gates = held_by(2, {4}, "mlp.gate_up_proj/weight");
  PartLengths known;
  const std::vector<Tensor> halves = in_parts(fused(gates), known);
  REQUIRE(halves.size() == 1);
  CHECK(numbers_of(halves[0]) == Row{0, 1, 100, 101, 2, 3, 102, 103});

  // Six rows a rank: one head each of query, key and value, or four queries to a key and a value.
  const HeldTensor heads = held_by(2, {6}, "attn.qkv/weight");
  const std::vector<Tensor> ways = in_parts(fused(heads), known);
  REQUIRE(ways.size() == 2);
  CHECK(numbers_of(ways[0]) == Row{0, 1, 100, 101, 2, 3, 102, 103, 4, 5, 104, 105});
  CHECK(numbers_of(ways[1]) == Row{0, 1, 2, 3, 100, 101, 102, 103, 4, 104, 5, 105});

  // A name that says nothing, of extents that one did.
  const HeldTensor unnamed = held_by(2, {6}, "linear.3/output.0");
  const HeldTensor other = held_by(2, {2}, "linear.4/output.0");
  CHECK(in_parts(fused(unnamed), known).size() == 2);
  CHECK(in_parts(fused(other), known).empty());
  PartLengths none;
  CHECK(in_parts(fused(unnamed), none).empty());
  Tensor declared = fused(heads);
  declared.by_shape = false;
  CHECK(in_parts(declared, known).empty());
  Tensor lost = fused(heads);
  lost.stored = false;
  CHECK(in_parts(lost, known).empty());
}

TEST_CASE("the parts that a name and a length allow") {
  struct Case {
    const char* name;
    std::int64_t length;
    std::vector<Extents> parts;
  };
  const Mesh mesh = mesh_of({{"tp", 2}});
  for (const Case& row : {
           Case{"mlp.fc1/weight", 2, {{1, 1}}},
           Case{"mlp.fc1/weight", 3, {}},
           Case{"mlp.dense_h_to_4h/weight", 4, {{2, 2}}},
           Case{"mlp.fc2/weight", 4, {}},
           Case{"W_pack/weight", 4, {{2, 1, 1}}},    // 1 query would be 4/3 long
           Case{"c_attn/weight", 17, {{15, 1, 1}}},  // 15 queries
           Case{"c_attn/weight", 18, {{6, 6, 6}, {12, 3, 3}, {14, 2, 2}, {16, 1, 1}}},
           Case{"c_attn/weight", 19, {}},  // 17 queries are too many
           Case{"attn.in_proj/weight", 3, {{1, 1, 1}}},
       }) {
    CAPTURE(row.name);
    CAPTURE(row.length);
    const HeldTensor held = held_by(2, {row.length}, row.name);
    PartLengths known;
    CHECK(in_parts(cut_along(held.tensor, {2 * row.length}, mesh, "tp").value(), known).size() ==
          row.parts.size());
    CHECK(known[{2 * row.length, row.length}] == row.parts);
  }
}

TEST_CASE("parts are cut in the dimension that the ranks share") {
  const Mesh mesh = mesh_of({{"tp", 2}});
  const HeldTensor held = held_by(2, {2, 4}, "fc1/weight");
  PartLengths known;
  const auto halves = in_parts(cut_along(held.tensor, {2, 8}, mesh, "tp").value(), known);
  REQUIRE(halves.size() == 1);
  CHECK(numbers_of(halves[0]) ==
        Row{0, 1, 100, 101, 2, 3, 102, 103, 4, 5, 104, 105, 6, 7, 106, 107});
}

}  // namespace
}  // namespace ttcheck::assemble
