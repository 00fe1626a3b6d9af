// SPDX-License-Identifier: Apache-2.0
#include "core/align/box_map.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/gather.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/links.hpp"

namespace ttcheck::align {
namespace {

using tests::ArraySource;
using Values = std::vector<std::int32_t>;

Values numbers_from(std::int32_t first, const Shape& shape) {
  Values values(static_cast<std::size_t>(element_count(shape)));
  std::iota(values.begin(), values.end(), first);
  return values;
}

Values read(const Tensor& tensor) {
  Values values(static_cast<std::size_t>(element_count(tensor.shape)), -1);
  gather(tensor, 0, std::ssize(values), std::as_writable_bytes(std::span(values)));
  return values;
}

/// A piece of the whole of a source, cut in two cells along the first dimension.
Piece piece_of(const Source& source, const Shape& shape, std::int32_t rank = kNoRank) {
  Piece piece;
  piece.source = &source;
  piece.dtype = DType::i32;
  piece.rank = rank;
  if (shape.empty() || shape[0] < 2) return piece;
  const Extents strides = row_major_strides(shape);
  Box top = whole(shape), bottom = whole(shape);
  top.size[0] = 1;
  bottom.lo[0] = 1;
  bottom.size[0] -= 1;
  piece.cells = {{top, 0, strides}, {bottom, strides[0], strides}};
  return piece;
}

Tensor tensor_of(const Source& source, Shape shape) {
  Tensor tensor;
  tensor.dtype = DType::i32;
  tensor.pieces = {piece_of(source, shape)};
  tensor.shape = std::move(shape);
  return tensor;
}

Loop loop(std::int64_t size, std::size_t part_axis, std::size_t whole_axis,
          std::int64_t part_step = 1, std::int64_t whole_step = 1) {
  return {size, part_axis, whole_axis, part_step, whole_step};
}

struct Row {
  std::string what;
  BoxMap map;
};

const std::vector<Row>& maps() {
  static const std::vector<Row> rows = {
      {"a number", {{}, {{}}, {{0, {}, {}, {}}}}},
      {"the same", {{2, 3}, {{2, 3}}, {{0, {0, 0}, {0, 0}, {loop(2, 0, 0), loop(3, 1, 1)}}}}},
      {"rows of two parts",
       {{3, 2},
        {{1, 2}, {2, 2}},
        {{0, {0, 0}, {0, 0}, {loop(1, 0, 0), loop(2, 1, 1)}},
         {1, {0, 0}, {1, 0}, {loop(2, 0, 0), loop(2, 1, 1)}}}}},
      {"turned", {{3, 2}, {{2, 3}}, {{0, {0, 0}, {0, 0}, {loop(2, 0, 1), loop(3, 1, 0)}}}}},
      {"rows in turn",
       {{4, 2},
        {{2, 2}, {2, 2}},
        {{0, {0, 0}, {0, 0}, {loop(2, 0, 0, 1, 2), loop(2, 1, 1)}},
         {1, {0, 0}, {1, 0}, {loop(2, 0, 0, 1, 2), loop(2, 1, 1)}}}}},
      {"rows in pairs",
       {{8},
        {{4}, {4}},
        {{0, {0}, {0}, {loop(2, 0, 0, 2, 4), loop(2, 0, 0)}},
         {1, {0}, {2}, {loop(2, 0, 0, 2, 4), loop(2, 0, 0)}}}}},
      {"halves for pairs",
       {{6}, {{6}}, {{0, {0}, {0}, {loop(2, 0, 0, 3, 1), loop(3, 0, 0, 1, 2)}}}}},
      {"stacked",
       {{2, 3},
        {{3}, {3}},
        {{0, {0}, {0, 0}, {loop(3, 0, 1)}}, {1, {0}, {1, 0}, {loop(3, 0, 1)}}}}},
      {"a line for a table",
       {{2, 3}, {{6}}, {{0, {0}, {0, 0}, {loop(2, 0, 0, 3, 1), loop(3, 0, 1)}}}}},
      {"a table for a line",
       {{6}, {{2, 3}}, {{0, {0, 0}, {0}, {loop(2, 0, 0, 1, 3), loop(3, 1, 0)}}}}},
      {"backwards along a row of blocks",
       {{2, 2, 2},
        {{2, 2, 2}},
        {{0, {0, 0, 0}, {0, 0, 0}, {loop(2, 0, 2), loop(2, 1, 1), loop(2, 2, 0)}}}}},
      {"two links of a part",
       {{4}, {{4}}, {{0, {0}, {2}, {loop(2, 0, 0)}}, {0, {2}, {0}, {loop(2, 0, 0)}}}}},
  };
  return rows;
}

TEST_CASE("parts read from the whole, and the whole from its parts") {
  for (const Row& row : maps()) {
    INFO(row.what);
    const tests::Linked links = tests::linked(row.map);
    const ArraySource source = ArraySource::of(numbers_from(0, row.map.whole));
    const Tensor all = tensor_of(source, row.map.whole);
    std::deque<ArraySource> sources;
    std::deque<Tensor> parts;
    std::vector<const Tensor*> list;
    Values expected(static_cast<std::size_t>(element_count(row.map.whole)), -2);
    for (std::size_t part = 0; part < row.map.parts.size(); ++part) {
      const Shape& shape = row.map.parts[part];
      Values from_whole(static_cast<std::size_t>(element_count(shape)), -2);
      const auto first = static_cast<std::int32_t>(100 * part);
      for (const auto& [of, place, at] : links) {
        if (of != part) continue;
        from_whole[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(at);
        expected[static_cast<std::size_t>(at)] = first + static_cast<std::int32_t>(place);
      }
      const Tensor made = part_of(row.map, all, part);
      CHECK(made.shape == shape);
      CHECK(made.holes.empty());
      CHECK(made.pieces.size() == 1);
      CHECK(read(made) == from_whole);
      sources.push_back(ArraySource::of(numbers_from(first, shape)));
      list.push_back(&parts.emplace_back(tensor_of(sources.back(), shape)));
    }
    const Tensor made = whole_of(row.map, list);
    CHECK(made.shape == row.map.whole);
    CHECK(made.pieces.size() == list.size());
    CHECK(read(made) == expected);
  }
}

TEST_CASE("what runs densely takes one cell, and the rest one each") {
  // Of two loops along one axis of the source the first may run, the other is gone through.
  struct Count {
    std::string what;
    std::size_t whole, part;  ///< cells of all pieces, of a source of one cell
  };
  const std::vector<Count> rows = {
      {"a number", 1, 1},
      {"the same", 1, 1},
      {"rows of two parts", 2, 1},
      {"turned", 1, 1},
      {"rows in turn", 4, 1},
      {"rows in pairs", 4, 2},
      {"halves for pairs", 3, 2},
      {"stacked", 2, 1},
      {"a line for a table", 3, 2},
      {"a table for a line", 2, 3},
      {"two links of a part", 2, 2},
  };
  for (const Count& row : rows) {
    INFO(row.what);
    const auto found = std::ranges::find(maps(), row.what, &Row::what);
    REQUIRE(found != maps().end());
    const BoxMap& map = found->map;
    const ArraySource source = ArraySource::of(numbers_from(0, map.whole));
    const Tensor all = tests::tensor_of(source, DType::i32, map.whole);
    CHECK(part_of(map, all, 0).pieces.at(0).cells.size() == row.part);
    std::deque<Tensor> parts;
    std::vector<const Tensor*> list;
    for (const Shape& shape : map.parts) {
      list.push_back(&parts.emplace_back(tests::tensor_of(source, DType::i32, shape)));
      parts.back().pieces[0].rank = static_cast<std::int32_t>(list.size());
    }
    std::size_t cells = 0;
    for (const Piece& piece : whole_of(map, list).pieces) cells += piece.cells.size();
    CHECK(cells == row.whole);
  }
}

/// Places of elements in boxes, ascending.
Extents places(const Shape& shape, const std::vector<Box>& boxes) {
  Extents list;
  for (const Box& box : boxes) {
    for (std::int64_t i = 0; i < volume(box); ++i) {
      Extents at = unravel(box.size, i);
      for (std::size_t d = 0; d < at.size(); ++d) at[d] += box.lo[d];
      list.push_back(linear_index(shape, at));
    }
  }
  std::ranges::sort(list);
  return list;
}

TEST_CASE("holes lie where what is missing lies") {
  const ArraySource source = ArraySource::of(numbers_from(0, {8}));
  for (const Row& row : maps()) {
    INFO(row.what);
    const tests::Linked links = tests::linked(row.map);
    for (const auto& [part, place, at] : links) {
      Tensor all = tests::tensor_of(source, DType::i32, row.map.whole);
      const Extents index = unravel(row.map.whole, at);
      all.holes = {{index, Extents(index.size(), 1)}};
      for (std::size_t other = 0; other < row.map.parts.size(); ++other) {
        const Extents open = other == part ? Extents{place} : Extents{};
        CHECK(places(row.map.parts[other], part_of(row.map, all, other).holes) == open);
      }
    }
  }
}

TEST_CASE("what the whole leaves out of the first part is a hole in it") {
  const BoxMap map{{2}, {{5}, {1}}, {{0, {1}, {0}, {loop(2, 0, 0)}}}, {{{0}, {1}}, {{3}, {2}}}};
  const ArraySource source = ArraySource::of(numbers_from(0, {2}));
  Tensor all = tests::tensor_of(source, DType::i32, {2});
  CHECK(places({5}, part_of(map, all, 0).holes) == Extents{0, 3, 4});
  CHECK(part_of(map, all, 1).holes.empty());
  all.holes = {{{1}, {1}}};
  CHECK(places({5}, part_of(map, all, 0).holes) == Extents{0, 2, 3, 4});
}

TEST_CASE("a piece that has nothing of a part is not among its pieces") {
  const Row& rows = maps()[2];
  const ArraySource source = ArraySource::of(numbers_from(0, {3, 2}));
  Tensor all = tests::tensor_of(source, DType::i32, {3, 2});
  const Extents strides = {2, 1};
  all.pieces[0].cells = {{{{0, 0}, {2, 2}}, 0, strides}};
  all.pieces[0].rank = 0;
  all.pieces.push_back(all.pieces[0]);
  all.pieces[1].cells = {{{{2, 0}, {1, 2}}, 4, strides}};
  all.pieces[1].rank = 1;
  const Tensor upper = part_of(rows.map, all, 0);
  REQUIRE(upper.pieces.size() == 1);
  CHECK(upper.pieces[0].rank == 0);
  CHECK(upper.pieces[0].cells == std::vector<Cell>{{{{0, 0}, {1, 2}}, 0, strides}});
  const Tensor lower = part_of(rows.map, all, 1);
  REQUIRE(lower.pieces.size() == 2);
  CHECK(lower.pieces[0].cells == std::vector<Cell>{{{{0, 0}, {1, 2}}, 2, strides}});
  CHECK(lower.pieces[1].cells == std::vector<Cell>{{{{1, 0}, {1, 2}}, 4, strides}});
  CHECK(read(lower) == Values{2, 3, 4, 5});
}

TEST_CASE("pieces of another place, source or rank are pieces of their own") {
  const Row& same = maps()[1];
  const ArraySource here = ArraySource::of(numbers_from(0, {12}));
  const ArraySource there = ArraySource::of(numbers_from(0, {12}));
  Tensor all = tests::tensor_of(here, DType::i32, {2, 3});
  for (int i = 0; i < 4; ++i) all.replicas.push_back(all.pieces[0]);
  all.replicas[1].offset = 4;
  all.replicas[2].source = &there;
  all.replicas[3].rank = 5;
  CHECK(part_of(same.map, all, 0).replicas.size() == 4);
  all.replicas[1].offset = 0;
  CHECK(part_of(same.map, all, 0).replicas.size() == 3);
}

TEST_CASE("copies and addends go with their pieces; all else is the whole's") {
  const ArraySource source = ArraySource::of(numbers_from(0, {4}));
  const BoxMap& pairs = maps().back().map;  // two links of a part
  Tensor all = tests::tensor_of(source, DType::i32, {4});
  const auto of_rank = [&](std::int32_t rank) {
    Piece piece = all.pieces[0];
    piece.rank = rank;
    return piece;
  };
  all.identity = {"w", Phase::forward, 1, 2};
  all.kind = Kind::output;
  all.stored = false;
  all.order = 9;
  all.reduce = Reduce::avg;
  all.trace = std::make_shared<const TraceRecord>();
  all.replicas = {of_rank(3), of_rank(2)};
  all.terms = {{of_rank(0)}, {of_rank(1)}};
  all.term_replicas = {{}, {of_rank(4)}};
  const auto check_rest = [&](const Tensor& made) {
    CHECK(made.identity == all.identity);
    CHECK(made.kind == all.kind);
    CHECK(made.dtype == all.dtype);
    CHECK(made.stored == all.stored);
    CHECK(made.order == all.order);
    CHECK(made.reduce == all.reduce);
    CHECK(made.trace == all.trace);
    REQUIRE(made.replicas.size() == 2);
    CHECK(made.replicas[0].rank == 2);  // ascending
    CHECK(made.replicas[1].rank == 3);
    CHECK(made.replicas[0].cells.size() == 2);
  };
  const Tensor part = part_of(pairs, all, 0);
  check_rest(part);
  REQUIRE(part.terms.size() == 2);
  REQUIRE(part.term_replicas.size() == 2);
  CHECK(part.terms[0].at(0).rank == 0);
  CHECK(part.terms[1].at(0).rank == 1);
  CHECK(part.term_replicas[0].empty());
  CHECK(part.term_replicas[1].at(0).rank == 4);
  for (const Piece* piece : {&part.terms[1][0], &part.term_replicas[1][0]}) {
    CHECK(piece->cells.size() == 2);
  }
  all.reduce = Reduce::none;
  all.terms = all.term_replicas = {};
  check_rest(whole_of(pairs, std::vector<const Tensor*>{&all}));
}

TEST_CASE("what was rounded stays so: each part as the whole, the whole as the coarsest part") {
  const ArraySource source = ArraySource::of(numbers_from(0, {4}));
  const auto tensor = [&](std::optional<Rounding> rounding) {
    Tensor made = tests::tensor_of(source, DType::i32, {2, 2});
    if (rounding) made.rounding = std::make_shared<const Rounding>(*std::move(rounding));
    return made;
  };
  const BoxMap& map = maps()[4].map;  // rows in turn
  Tensor all = tests::tensor_of(source, DType::i32, {4, 2});
  CHECK(part_of(map, all, 1).rounding == nullptr);
  all.rounding = std::make_shared<const Rounding>(Rounding{0.5, 2, "steps"});
  CHECK(part_of(map, all, 1).rounding == all.rounding);
  const std::optional<Rounding> none, fine = Rounding{0.25, 3, "fine"},
                                      wide = Rounding{0.5, 1, "w"};
  struct Case {
    std::optional<Rounding> first, second, whole;
  };
  for (const Case& one :
       {Case{none, none, none}, Case{fine, none, fine}, Case{none, fine, fine},
        Case{fine, wide, Rounding{0.5, 3, "fine"}}, Case{wide, fine, Rounding{0.5, 3, "w"}}}) {
    const Tensor first = tensor(one.first), second = tensor(one.second);
    const Tensor made = whole_of(map, std::vector<const Tensor*>{&first, &second});
    REQUIRE((made.rounding != nullptr) == one.whole.has_value());
    if (!one.whole) continue;
    CHECK(made.rounding->rtol == one.whole->rtol);
    CHECK(made.rounding->atol == one.whole->atol);
    CHECK(made.rounding->source == one.whole->source);
  }
}

TEST_CASE("maps that take too many boxes") {
  const ArraySource source = ArraySource::of(Values(1));
  const Tensor all = tests::tensor_of(source, DType::i32, {1});
  const auto made = [&](std::int64_t boxes) {
    const BoxMap map{{1}, {{2 * boxes}}, {{0, {0}, {0}, {loop(boxes, 0, kNoAxis, 2, 1)}}}};
    return part_of(map, all, 0).pieces.at(0).cells.size();
  };
  constexpr std::int64_t kBoxes = 1 << 18;
  CHECK(made(kBoxes) == kBoxes);
  CHECK(tests::error_of([&] { made(kBoxes + 1); }) == "the map takes more than 262144 boxes");
}

}  // namespace
}  // namespace ttcheck::align
