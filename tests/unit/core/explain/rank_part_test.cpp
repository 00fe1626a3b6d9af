// SPDX-License-Identifier: Apache-2.0
#include "core/explain/rank_part.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <vector>

#include "core/compare/compare.hpp"
#include "core/model/gather.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::explain {
namespace {

/// Rows [lo, lo + size) of a tensor [4, 2]; all numbers are the rank's.
struct Held {
  std::int32_t rank;
  std::int64_t lo, size;  ///< size 0: the whole, without a box
  bool copy = false;
};

class Parts {
 public:
  explicit Parts(const std::vector<Held>& held) {
    tensor.dtype = DType::f64;  // of pieces that were kept in fewer bits
    tensor.shape = {4, 2};
    tensor.identity.name = "w";
    tensor.kind = Kind::master;
    for (const Held& one : held) {
      const std::int64_t rows = one.size == 0 ? 4 : one.size;
      const std::vector<float> numbers(static_cast<std::size_t>(2 * rows),
                                       static_cast<float>(one.rank));
      Piece piece;
      piece.source = &sources_.emplace_back(tests::ArraySource::of(numbers));
      piece.dtype = DType::f32;
      piece.rank = one.rank;
      if (one.size > 0) piece.cells = {{Box{{one.lo, 0}, {one.size, 2}}, 0, {2, 1}}};
      (one.copy ? tensor.replicas : tensor.pieces).push_back(piece);
    }
  }

  Tensor tensor;

 private:
  std::deque<tests::ArraySource> sources_;
};

TEST_CASE("a rank's part, and holes where it has nothing") {
  struct Row {
    const char* what;
    std::vector<Held> held;
    std::int32_t rank;
    std::size_t pieces;
    std::vector<Box> holes;
  };
  const Row rows[] = {
      {"the upper half", {{0, 0, 2}, {1, 2, 2}}, 0, 1, {{{2, 0}, {2, 2}}}},
      {"the lower half", {{0, 0, 2}, {1, 2, 2}}, 1, 1, {{{0, 0}, {2, 2}}}},
      {"two pieces", {{0, 0, 1}, {1, 1, 2}, {0, 3, 1}}, 0, 2, {{{1, 0}, {2, 2}}}},
      {"a copy", {{0, 0, 0}, {1, 0, 0, true}}, 1, 1, {}},
      {"a piece and a copy", {{0, 0, 2}, {1, 2, 2}, {1, 0, 1, true}}, 1, 2, {{{1, 0}, {1, 2}}}},
      {"no part", {{0, 0, 2}, {1, 2, 2}}, 2, 0, {}},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    const Parts parts(row.held);
    const auto part = part_of_rank(parts.tensor, row.rank);
    REQUIRE(part.has_value() == (row.pieces > 0));
    if (!part) continue;
    CHECK(part->pieces.size() == row.pieces);
    for (const Piece& piece : part->pieces) CHECK(piece.rank == row.rank);
    CHECK(part->holes == row.holes);
    CHECK(part->shape == Shape{4, 2});
    CHECK(part->dtype == DType::f64);
    CHECK(part->kind == Kind::master);
    CHECK(part->identity.name == "w");
  }
  Parts sum({{0, 0, 0}});
  sum.tensor.reduce = Reduce::sum;
  CHECK_FALSE(part_of_rank(sum.tensor, 0));
}

TEST_CASE("a part of too many boxes is none") {
  // Lines across both dimensions leave a grid of (rows + 1) x (columns + 1) holes.
  for (const auto& [rows, columns] : {std::pair{63, 63}, {63, 64}, {64, 63}, {16, 240}}) {
    Tensor tensor;
    tensor.shape = {2 * rows + 1, 2 * columns + 1};
    Piece& piece = tensor.pieces.emplace_back();
    piece.rank = 0;
    for (int r = 0; r < rows; ++r) {
      piece.cells.push_back({{{2 * r + 1, 0}, {1, 2 * columns + 1}}, 0, {1, 1}});
    }
    for (int c = 0; c < columns; ++c) {
      piece.cells.push_back({{{0, 2 * c + 1}, {2 * rows + 1, 1}}, 0, {1, 1}});
    }
    const auto part = part_of_rank(tensor, 0);
    const int holes = (rows + 1) * (columns + 1);
    CHECK(part.has_value() == (holes <= 4096));
    if (part) CHECK(std::ssize(part->holes) == holes);
  }
}

TEST_CASE("copies along an axis: each coordinate has all boxes") {
  struct Row {
    const char* what;
    std::vector<Held> held;
    std::string axis;
    std::vector<std::vector<std::int32_t>> ranks;  ///< whose pieces, by coordinate
  };
  // dp is slower: ranks 0 and 1 are dp 0.
  const std::vector<Axis> axes = {{"dp", 2}, {"tp", 2}};
  const std::vector<Held> four = {{0, 0, 0}, {1, 0, 0, true}, {2, 0, 0, true}, {3, 0, 0, true}};
  const std::vector<Held> halves = {{0, 0, 2}, {1, 2, 2}, {2, 0, 2, true}, {3, 2, 2, true}};
  const Row rows[] = {
      {"all alike along tp: the lowest rank's", four, "tp", {{0}, {1}}},
      {"along dp", four, "dp", {{0}, {2}}},
      {"in whatever order they are listed",
       {{1, 0, 0}, {3, 0, 0, true}, {2, 0, 0, true}, {0, 0, 0, true}},
       "dp",
       {{0}, {2}}},
      {"halves along dp", halves, "dp", {{0, 1}, {2, 3}}},
      {"halves are no copies along tp", halves, "tp", {}},
      {"one that lacks a half", {{0, 0, 2}, {1, 2, 2}, {2, 0, 2, true}}, "dp", {}},
      {"one that has another box instead",
       {{0, 0, 2}, {1, 2, 2}, {2, 0, 2, true}, {3, 1, 2, true}},
       "dp",
       {}},
      {"one that has a box too many",
       {{0, 0, 2}, {1, 2, 2}, {2, 0, 2, true}, {3, 2, 2, true}, {3, 1, 2, true}},
       "dp",
       {}},
      {"an axis that is not there", four, "cp", {}},
      {"no copies", {{0, 0, 0}}, "tp", {}},
      {"nothing", {}, "tp", {}},
      {"a rank beyond the mesh", {{0, 0, 0}, {4, 0, 0, true}}, "tp", {}},
      {"no rank", {{-1, 0, 0}, {1, 0, 0, true}}, "tp", {}},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    const Parts parts(row.held);
    std::vector<std::vector<std::int32_t>> ranks;
    for (const auto& copy : copies_along(parts.tensor, Mesh{axes, {}, {}}, row.axis)) {
      ranks.emplace_back();
      for (const Piece& piece : copy) ranks.back().push_back(piece.rank);
    }
    CHECK(ranks == row.ranks);
  }
  // Coordinates that were written down may be beyond the axis.
  const Parts two({{0, 0, 0}, {1, 0, 0, true}});
  for (const std::int64_t at : {1, 2, -1}) {
    const Mesh listed{{{"tp", 2}}, {}, {{{"tp", 0}}, {{"tp", at}}}};
    CHECK(copies_along(two.tensor, listed, "tp").size() == (at == 1 ? 2 : 0));
  }
  Parts sum(four);
  sum.tensor.reduce = Reduce::avg;
  CHECK(copies_along(sum.tensor, Mesh{axes, {}, {}}, "tp").empty());
}

}  // namespace
}  // namespace ttcheck::explain
