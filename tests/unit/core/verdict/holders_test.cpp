// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/holders.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/array_source.hpp"

namespace ttcheck::verdict {
namespace {

using Ranks = std::vector<std::int32_t>;

const tests::ArraySource kSource = tests::ArraySource::of(std::vector<float>(64));

Piece piece_of(std::int32_t rank, std::vector<Cell> cells = {}) {
  Piece piece;
  piece.source = &kSource;
  piece.offset = static_cast<std::uint64_t>(16 * (rank + 1));
  piece.dtype = DType::f32;
  piece.rank = rank;
  piece.cells = std::move(cells);
  return piece;
}

Cell row_of(std::int64_t row, std::int64_t start = 0) {
  return {{{row, 0}, {1, 3}}, start, {3, 1}};
}

Tensor tensor_of(std::vector<Piece> pieces, std::vector<Piece> replicas = {},
                 std::vector<std::vector<Piece>> terms = {},
                 std::vector<std::vector<Piece>> term_replicas = {}) {
  Tensor tensor;
  tensor.shape = {2, 3};
  tensor.pieces = std::move(pieces);
  tensor.replicas = std::move(replicas);
  tensor.terms = std::move(terms);
  tensor.term_replicas = std::move(term_replicas);
  return tensor;
}

TEST_CASE("the piece that gives an element its value, and the ranks that have it") {
  struct Row {
    std::string what;
    Tensor tensor;
    std::int64_t index;
    std::optional<std::int32_t> rank;  ///< of the piece; none: no piece
    Ranks holders;
  };
  const Piece upper = piece_of(4, {row_of(0)}), lower = piece_of(2, {row_of(1)});
  const Piece upper_copy = piece_of(1, {row_of(0)});
  const std::vector<Row> rows = {
      {"no piece", tensor_of({}), 0, {}, {}},
      {"no piece, no index", tensor_of({}), -1, {}, {}},
      {"a whole one", tensor_of({piece_of(3)}), 5, 3, {3}},
      {"no index", tensor_of({upper, lower}, {upper_copy}), -1, 4, {}},
      {"a whole one, no index", tensor_of({piece_of(3)}), -1, 3, {}},
      {"the last of a row", tensor_of({upper, lower}, {upper_copy}), 2, 4, {1, 4}},
      {"the first of the next", tensor_of({upper, lower}, {upper_copy}), 3, 2, {2}},
      {"in the second cell", tensor_of({piece_of(0, {row_of(1), row_of(0)})}), 0, 0, {0}},
      {"in no cell", tensor_of({upper}), 3, 4, {}},
      {"of no rank", tensor_of({piece_of(kNoRank)}, {piece_of(1)}), 0, kNoRank, {1}},
      {"once, though it has it twice",
       tensor_of({piece_of(3)}, {piece_of(3), piece_of(1), piece_of(3)}),
       0,
       3,
       {1, 3}},
      {"addends",
       tensor_of({}, {}, {{upper, lower}, {piece_of(6)}}, {{upper_copy}, {piece_of(5)}}),
       0,
       4,
       {1, 4, 5, 6}},
      {"addends of another row",
       tensor_of({}, {}, {{upper, lower}, {piece_of(6)}}, {{upper_copy}, {piece_of(5)}}),
       4,
       2,
       {2, 5, 6}},
      {"the second addend", tensor_of({}, {}, {{upper}, {lower}}), 3, 2, {2}},
      {"addends, no index", tensor_of({}, {}, {{upper}, {lower}}), -1, 4, {}},
      {"in no addend", tensor_of({}, {}, {{}, {upper}}), 3, 4, {}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const Piece* piece = piece_at(row.tensor, row.index);
    CHECK((piece == nullptr ? std::optional<std::int32_t>() : piece->rank) == row.rank);
    CHECK(holders(row.tensor, row.index) == row.holders);
    CHECK((row.index >= 0 || piece == first_piece(row.tensor)));
  }
}

TEST_CASE("where an element is stored") {
  struct Row {
    std::string what;
    Tensor tensor;
    std::int64_t index;
    std::optional<std::uint64_t> offset;
  };
  const auto of_dtype = [](DType dtype) {
    Piece piece = piece_of(0);
    piece.dtype = dtype;
    return tensor_of({piece});
  };
  Piece no_source = piece_of(0);
  no_source.source = nullptr;
  const std::vector<Row> rows = {
      {"no piece", tensor_of({}), 0, {}},
      {"no index: where it begins", tensor_of({piece_of(0)}), -1, 16},
      {"no source", tensor_of({no_source}), 0, {}},
      {"the first", tensor_of({piece_of(0)}), 0, 16},
      {"the last", tensor_of({piece_of(0)}), 5, 16 + 5 * 4},
      {"of two bytes each", of_dtype(DType::bf16), 5, 16 + 5 * 2},
      {"of half a byte each", of_dtype(DType::f4_e2m1), 5, 16 + 2},
      {"in a cell that starts later", tensor_of({piece_of(0, {row_of(1, 7)})}), 4, 16 + 8 * 4},
      {"in the second cell", tensor_of({piece_of(0, {row_of(1, 7), row_of(0, 2)})}), 1, 16 + 3 * 4},
      {"column by column", tensor_of({piece_of(0, {{{{0, 0}, {2, 3}}, 1, {1, 2}}})}), 5,
       16 + (1 + 1 + 4) * 4},
      {"of two that hold it the first", tensor_of({piece_of(0, {row_of(0, 2), row_of(0, 9)})}), 0,
       16 + 2 * 4},
      {"of the second piece", tensor_of({piece_of(0, {row_of(0)}), piece_of(1, {row_of(1)})}), 3,
       32},
      {"in no piece: as if the first had it", tensor_of({piece_of(0, {row_of(0)})}), 3, 16 + 3 * 4},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const std::optional<Where> place = place_of(row.tensor, row.index);
    CHECK(place.has_value() == row.offset.has_value());
    if (place) CHECK(place->offset == row.offset);
    if (place) CHECK(place->file == "memory");
  }
}

}  // namespace
}  // namespace ttcheck::verdict
