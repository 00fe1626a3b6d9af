// SPDX-License-Identifier: Apache-2.0
#include "core/align/map_op.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "core/model/gather.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/error_of.hpp"

namespace ttcheck::align {
namespace {

using Values = std::vector<std::int32_t>;

Values numbered(std::int64_t count) {
  Values values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

Values read(const Tensor& tensor) {
  Values values(static_cast<std::size_t>(element_count(tensor.shape)), -1);
  gather(tensor, 0, std::ssize(values), std::as_writable_bytes(std::span(values)));
  return values;
}

/// The same tensor as two pieces of its rows, each stored apart in the one source.
Tensor in_two(const Source& source, Shape shape) {
  Tensor tensor = tests::tensor_of(source, DType::i32, shape);
  const std::int64_t upper = shape[0] / 2;
  Box top = whole(shape);
  Box bottom = whole(shape);
  top.size[0] = upper;
  bottom.lo[0] = upper;
  bottom.size[0] -= upper;
  Piece second = tensor.pieces[0];
  tensor.pieces[0].cells = {{top, 0, row_major_strides(shape)}};
  tensor.pieces[0].rank = 0;
  second.rank = 1;
  second.offset = static_cast<std::uint64_t>(upper * (element_count(shape) / shape[0])) * 4;
  second.cells = {{bottom, 0, row_major_strides(shape)}};
  tensor.pieces.push_back(second);
  return tensor;
}

/// Where an element of a part lies in the whole, by row and column, told in another way than by
/// boxes.
struct Place {
  std::int64_t row = 0, column = 0;
};
using Rule = std::function<Place(std::size_t part, std::int64_t row, std::int64_t column)>;

void check_both_ways(const std::string& text, const Numbers& numbers, const Shape& shape,
                     std::size_t count, const Rule& rule) {
  CAPTURE(text);
  const MapOp op = parse_op(text);
  const auto map = map_of_whole(op, numbers, shape, count);
  REQUIRE(map);
  REQUIRE(map->parts.size() == count);
  const Values values = numbered(element_count(shape));
  const auto source = tests::ArraySource::of(values);
  const Tensor fused = in_two(source, shape);
  std::vector<Values> contents;
  for (std::size_t part = 0; part < count; ++part) {
    const Tensor seen = part_of(*map, fused, part);
    CHECK(seen.shape == map->parts[part]);
    contents.push_back(read(seen));
    Values expected;
    for (std::int64_t row = 0; row < seen.shape[0]; ++row) {
      for (std::int64_t column = 0; column < seen.shape[1]; ++column) {
        const Place place = rule(part, row, column);
        expected.push_back(static_cast<std::int32_t>(place.row * shape[1] + place.column));
      }
    }
    CHECK(contents.back() == expected);
  }
  std::vector<tests::ArraySource> sources;
  for (const Values& content : contents) sources.push_back(tests::ArraySource::of(content));
  std::vector<Tensor> parts;
  for (std::size_t part = 0; part < count; ++part) {
    parts.push_back(in_two(sources[part], map->parts[part]));
  }
  std::vector<const Tensor*> pointers;
  for (const Tensor& part : parts) pointers.push_back(&part);
  const auto back = map_of_parts(op, numbers, shape, map->parts);
  REQUIRE(back);
  CHECK(back->whole == shape);
  CHECK(read(whole_of(*back, pointers)) == values);
}

TEST_CASE("every op says where each element is, in both directions") {
  const Numbers numbers = {{"heads", 6}, {"kv_heads", 2}, {"head_dim", 4}};
  check_both_ways("concat(1)", numbers, {5, 6}, 3,
                  [](std::size_t part, std::int64_t row, std::int64_t column) {
                    return Place{row, static_cast<std::int64_t>(part) * 2 + column};
                  });
  check_both_ways("glu", numbers, {10, 3}, 2,
                  [](std::size_t part, std::int64_t row, std::int64_t column) {
                    return Place{static_cast<std::int64_t>(part) * 5 + row, column};
                  });
  check_both_ways(
      "transpose", numbers, {4, 3}, 1,
      [](std::size_t, std::int64_t row, std::int64_t column) { return Place{column, row}; });
  // A group: three query heads, a key head, a value head, of four rows each.
  check_both_ways("qkv_interleave(heads, kv_heads, head_dim)", numbers, {40, 3}, 3,
                  [](std::size_t part, std::int64_t row, std::int64_t column) {
                    const std::int64_t head = row / 4;
                    const std::int64_t group = part == 0 ? head / 3 : head;
                    const std::int64_t slot =
                        part == 0 ? head % 3 : 2 + static_cast<std::int64_t>(part);
                    return Place{(group * 5 + slot) * 4 + row % 4, column};
                  });
  check_both_ways("qkv_v0(6, 2, 4)", {}, {40, 3}, 3,
                  [](std::size_t part, std::int64_t row, std::int64_t column) {
                    constexpr std::array<std::int64_t, 3> kStart = {0, 24, 32};
                    return Place{kStart.at(part) + row, column};
                  });
  check_both_ways("qkv_v0", {}, {24, 2}, 3,
                  [](std::size_t part, std::int64_t row, std::int64_t column) {
                    return Place{static_cast<std::int64_t>(part) * 8 + row, column};
                  });
  for (const char* const text : {"qkv_v1(2, 2, 4)", "qkv_v1"}) {
    check_both_ways(text, {}, {24, 2}, 3,
                    [](std::size_t part, std::int64_t row, std::int64_t column) {
                      return Place{row * 3 + static_cast<std::int64_t>(part), column};
                    });
  }
  check_both_ways("rope_permute(2, 6)", {}, {12, 2}, 1,
                  [](std::size_t, std::int64_t row, std::int64_t column) {
                    const std::int64_t in_head = row % 6;
                    return Place{row / 6 * 6 + in_head % 3 * 2 + in_head / 3, column};
                  });
  check_both_ways("conv1d_qkv(2, 2, 2)", {}, {3, 12}, 3,
                  [](std::size_t part, std::int64_t row, std::int64_t column) {
                    return Place{column, static_cast<std::int64_t>(part) * 4 + row};
                  });
}

TEST_CASE("stack adds an axis") {
  const Values values = numbered(24);
  const auto source = tests::ArraySource::of(values);
  const auto map = map_of_whole(parse_op("stack(1)"), {}, {2, 3, 4}, 3);
  REQUIRE(map);
  CHECK(map->parts[2] == Shape{2, 4});
  CHECK(read(part_of(*map, tests::tensor_of(source, DType::i32, {2, 3, 4}), 2)) ==
        Values{8, 9, 10, 11, 20, 21, 22, 23});
  const auto back = map_of_parts(parse_op("stack(1)"), {}, {2, 3, 4}, map->parts);
  REQUIRE(back);
  CHECK(back->whole == Shape{2, 3, 4});
}

/// Values of the part under its index, and the part's index of each value of the whole: -1 none.
void check_line(const std::string& text, const Shape& part, const Shape& whole, std::int64_t from) {
  CAPTURE(text);
  CAPTURE(whole.size());
  const Values values = numbered(element_count(part));
  const auto source = tests::ArraySource::of(values);
  const Tensor parts[] = {in_two(source, part)};
  const Tensor* pointers[] = {&parts[0]};
  const auto map = map_of_parts(parse_op(text), {}, whole, std::vector<Shape>{part});
  REQUIRE(map);
  Values expected = numbered(element_count(whole));
  for (std::int32_t& value : expected) value += static_cast<std::int32_t>(from);
  CHECK(read(whole_of(*map, pointers)) == expected);
  const auto joined = tests::ArraySource::of(expected);
  const Tensor seen = part_of(*map, in_two(joined, whole), 0);
  CHECK(seen.shape == part);
  Values back(values.size(), 0);
  std::copy(expected.begin(), expected.end(), back.begin() + from);
  CHECK(read(seen) == back);
  std::vector<std::int64_t> open;
  for (const Box& hole : seen.holes) {
    for (std::int64_t i = 0; i < volume(hole); ++i) {
      Extents at = unravel(hole.size, i);
      for (std::size_t d = 0; d < at.size(); ++d) at[d] += hole.lo[d];
      open.push_back(linear_index(part, at));
    }
  }
  std::ranges::sort(open);
  std::vector<std::int64_t> left;
  for (std::int64_t i = 0; i < std::ssize(values); ++i) {
    if (i < from || i >= from + std::ssize(expected)) left.push_back(i);
  }
  CHECK(open == left);
}

TEST_CASE("reshape keeps the order of the elements, whatever the shapes divide by") {
  const Shape shapes[] = {{24, 1, 5}, {120},    {4, 6, 5}, {6, 4, 5},    {8, 15},
                          {5, 24},    {2, 60},  {10, 12},  {2, 3, 4, 5}, {40, 3},
                          {3, 40},    {1, 120}, {15, 8},   {2, 1, 60, 1}};
  for (const Shape& part : shapes) {
    for (const Shape& whole : shapes) {
      if (part[0] > 1 && whole[0] > 1) check_line("reshape", part, whole, 0);
    }
  }
  CHECK_FALSE(map_of_parts(parse_op("reshape"), {}, {7}, std::vector<Shape>{{2, 4}}));
  CHECK_FALSE(map_of_whole(parse_op("reshape"), {}, {8}, 1));
  CHECK_FALSE(map_of_whole(parse_op("reshape"), {}, {8}, 2, std::vector<Shape>{{8}, {8}}));
  CHECK(map_of_parts(parse_op("reshape"), {}, {0, 7}, std::vector<Shape>{{3, 0}}));
  CHECK(map_of_parts(parse_op("reshape"), {}, {}, std::vector<Shape>{{1, 1}}));
  const std::int64_t odd = (std::int64_t{1} << 20) + 1;
  CHECK_THROWS_AS(
      map_of_parts(parse_op("reshape"), {}, {odd, odd + 1}, std::vector<Shape>{{odd + 1, odd}}),
      Error);
}

TEST_CASE("slice takes rows, and says what it leaves out") {
  check_line("slice(0, 2, 7)", {9, 3}, {5, 3}, 6);
  check_line("slice(0, 0, 4)", {9}, {4}, 0);
  CHECK_FALSE(map_of_whole(parse_op("slice(0,2,7)"), {}, {5, 3}, 1));
  CHECK_FALSE(map_of_whole(parse_op("slice(0,0,4)"), {}, {5, 3}, 1, std::vector<Shape>{{4, 3}}));
  for (const char* text :
       {"slice(0,2,10)", "slice(0,3,2)", "slice(2,0,1)", "slice(-1,0,1)", "slice(0,-1,4)",
        "slice(d,2,7)", "slice(0,b,5)", "slice(0,2,e)", "slice(0,4,9,)"}) {
    INFO(text);
    for (const Shape& whole : {Shape{5, 3}, Shape{8, 3}, Shape{9, 1}}) {
      const bool fits = std::string(text) == "slice(0,4,9,)" && whole == Shape{5, 3};
      const auto map = map_of_parts(parse_op(text), {}, whole, std::vector<Shape>{{9, 3}});
      CHECK(map.has_value() == fits);
    }
  }
}

TEST_CASE("experts in one tensor, upright, turned and with gate and up in turn") {
  const Values values = numbered(2 * 4 * 3);
  const auto source = tests::ArraySource::of(values);
  const auto part = [&](const std::string& text, const Shape& shape, std::size_t n) {
    const auto map = map_of_whole(parse_op(text), {}, shape, 4);
    REQUIRE(map);
    const auto back = map_of_parts(parse_op(text), {}, shape, map->parts);
    REQUIRE(back);
    std::vector<Values> contents;
    for (std::size_t k = 0; k < 4; ++k) {
      contents.push_back(read(part_of(*map, tests::tensor_of(source, DType::i32, shape), k)));
    }
    std::vector<tests::ArraySource> sources;
    for (const Values& content : contents) sources.push_back(tests::ArraySource::of(content));
    std::vector<Tensor> tensors;
    std::vector<const Tensor*> pointers;
    for (std::size_t k = 0; k < 4; ++k) {
      tensors.push_back(tests::tensor_of(sources[k], DType::i32, map->parts[k]));
    }
    for (const Tensor& tensor : tensors) pointers.push_back(&tensor);
    CHECK(read(whole_of(*back, pointers)) == values);
    return contents[n];
  };
  CHECK(part("stack_glu", {2, 4, 3}, 3) == Values{18, 19, 20, 21, 22, 23});
  CHECK(part("stack_glu_turned", {2, 3, 4}, 1) == Values{2, 6, 10, 3, 7, 11});
  CHECK(part("stack_glu_pairs", {2, 3, 4}, 1) == Values{1, 5, 9, 3, 7, 11});
  CHECK(part("stack_glu", {2, 12}, 2) == Values{12, 13, 14, 15, 16, 17});
  CHECK(part("stack_glu_pairs", {2, 12}, 3) == Values{13, 15, 17, 19, 21, 23});
  CHECK(part("stack_turned", {4, 2, 3}, 1) == Values{6, 9, 7, 10, 8, 11});
  CHECK_FALSE(map_of_whole(parse_op("stack_turned"), {}, {4, 2, 3}, 3));
  const auto none = map_of_whole(parse_op("stack_turned"), {}, {0, 2, 3}, 0);
  REQUIRE(none);
  CHECK(none->parts.empty());
  CHECK_FALSE(map_of_whole(parse_op("stack_glu"), {}, {2, 3, 4}, 4));
  CHECK_FALSE(map_of_whole(parse_op("stack_glu"), {}, {3, 4, 4}, 4));
  CHECK_FALSE(map_of_whole(parse_op("stack_glu"), {}, {4}, 8));
  CHECK_FALSE(map_of_whole(parse_op("stack_glu"), {}, {2, 4, 3, 2}, 4));
  CHECK_FALSE(map_of_whole(parse_op("stack_glu"), {}, {2, 4, 3}, 5));
}

TEST_CASE("biases have rows alone") {
  const Numbers numbers = {{"heads", 2}, {"kv_heads", 1}, {"head_dim", 2}};
  const Values values = numbered(8);
  const auto source = tests::ArraySource::of(values);
  const auto map =
      map_of_whole(parse_op("qkv_interleave(heads,kv_heads,head_dim)"), numbers, {8}, 3);
  REQUIRE(map);
  CHECK(read(part_of(*map, tests::tensor_of(source, DType::i32, {8}), 1)) == Values{4, 5});
  const auto turned = map_of_whole(parse_op("conv1d"), {}, {8}, 1);
  REQUIRE(turned);
  CHECK(turned->parts[0] == Shape{8});
}

TEST_CASE("an op does not fit shapes and numbers that contradict it") {
  const Numbers numbers = {{"heads", 4}, {"kv_heads", 3}, {"head_dim", 2}};
  CHECK_FALSE(
      map_of_whole(parse_op("qkv_interleave(heads,kv_heads,head_dim)"), numbers, {8, 2}, 3));
  CHECK_FALSE(map_of_whole(parse_op("qkv_interleave(4,2,2)"), {}, {15, 2}, 3));
  CHECK_FALSE(map_of_whole(parse_op("qkv_interleave(4,2,rows)"), {}, {16, 2}, 3));
  CHECK_FALSE(map_of_whole(parse_op("glu"), {}, {7, 2}, 2));
  CHECK_FALSE(map_of_whole(parse_op("rope_permute(2,3)"), {}, {6, 2}, 1));
  CHECK_FALSE(map_of_whole(parse_op("rope_permute(2,0)"), {}, {0, 2}, 1));
  CHECK_FALSE(map_of_whole(parse_op("rope_permute(0,2)"), {}, {0, 2}, 1));
  CHECK_FALSE(map_of_whole(parse_op("rope_permute(-2,-6)"), {}, {12, 2}, 1));
  CHECK_FALSE(map_of_whole(parse_op("rope_permute(2,2)"), {}, {}, 1));
  CHECK_FALSE(map_of_whole(parse_op("rope_permute(2,2)"), {}, {5, 2}, 1));
  for (const char* heads : {"(4,2,0)", "(-4,-2,-2)", "(4,-4,-2)", "(4,0,2)", "(0,2,2)"}) {
    INFO(heads);
    for (const std::int64_t rows : {0, 8, 16}) {
      for (const std::string op : {"qkv_interleave", "qkv_v0"}) {
        CHECK_FALSE(map_of_whole(parse_op(op + heads), {}, {rows, 2}, 3));
      }
    }
  }
  for (const char* text : {"concat(2)", "concat(-1)", "concat(axis)", "stack(2)", "stack(-1)"}) {
    INFO(text);
    CHECK_FALSE(map_of_whole(parse_op(text), {}, {2, 2}, 2));
  }
  CHECK_FALSE(map_of_whole({OpKind::concat, {}}, {}, {2, 2}, 2));
  CHECK_FALSE(map_of_whole(parse_op("stack(0)"), {}, {3, 2}, 2));
  CHECK_FALSE(map_of_whole(parse_op("concat(0)"), {}, {4}, 0));
  const auto concat = [](const char* text, std::size_t parts, const std::vector<Shape>& known) {
    return map_of_whole(parse_op(text), {}, {3, 2}, parts, known).has_value();
  };
  CHECK(concat("concat(0)", 1, {}));
  CHECK(concat("concat(0)", 2, {{1, 2}, {2, 2}}));
  CHECK_FALSE(concat("concat(0)", 2, {{3, 2}}));
  CHECK_FALSE(concat("concat(0)", 1, {{1, 2}, {2, 2}}));
  CHECK_FALSE(concat("concat(1)", 2, {{3, 1}, {3}}));
  CHECK_FALSE(concat("concat(0)", 2, {{-1, 2}, {4, 2}}));
  CHECK_FALSE(concat("concat(0)", 2, {{2, 2}, {2, 2}}));
  CHECK_FALSE(map_of_parts(parse_op("concat(0)"), {}, {3, 2}, std::vector<Shape>{{2, 2}, {2}}));
  CHECK_FALSE(map_of_whole(parse_op("qkv_v1(1,1,1)"), {}, {8, 2}, 3));
  CHECK_FALSE(map_of_whole(parse_op("qkv_v0(4,3,2)"), {}, {20, 2}, 3));  // 8 + 6 + 6
  CHECK_FALSE(map_of_whole(parse_op("qkv_v0"), {}, {20, 2}, 3));
  for (const char* text :
       {"qkv_interleave(2,2,2)", "qkv_v0(2,2,2)", "qkv_v1(2,2,2)", "conv1d_qkv(2,2,2)"}) {
    INFO(text);
    CHECK_FALSE(map_of_whole(parse_op(text), {}, {}, 3));
    CHECK_FALSE(map_of_whole(parse_op("conv1d_qkv(heads,2,2)"), {}, {2, 12}, 3));
  }
}

TEST_CASE("one head, and heads of one row") {
  const auto rows = [](const char* text, std::int64_t all, std::size_t parts) {
    const auto map = map_of_whole(parse_op(text), {}, {all}, parts);
    std::vector<std::int64_t> found;
    for (std::size_t i = 0; map && i < parts; ++i) found.push_back(map->parts.at(i)[0]);
    return found;
  };
  using Rows = std::vector<std::int64_t>;
  for (const std::string op : {"qkv_interleave", "qkv_v0"}) {
    CHECK(rows((op + "(1,1,2)").c_str(), 6, 3) == Rows{2, 2, 2});
    CHECK(rows((op + "(4,2,1)").c_str(), 8, 3) == Rows{4, 2, 2});
    CHECK(rows((op + "(2,groups,1)").c_str(), 6, 3) == Rows{2, 2, 2});  // as many as heads
  }
  CHECK(rows("qkv_v1(1,1,1)", 3, 3) == Rows{1, 1, 1});
  CHECK(rows("rope_permute(1,4)", 4, 1) == Rows{4});
}

TEST_CASE("the number of add and scale") {
  const Numbers numbers = {{"n", 3}, {"none", 0}, {"1", 5}, {"1.5", 7}};
  struct Row {
    const char* op;
    std::optional<double> number;
  };
  for (const Row& row : std::vector<Row>{{"add(1.5)", 1.5},
                                         {"add(-2)", -2.0},
                                         {"add(0)", 0.0},
                                         {"add(1)", 1.0},
                                         {"add(n)", 3.0},
                                         {"add(none)", 0.0},
                                         {"add(m)", {}},
                                         {"add(1.5x)", {}},
                                         {"add(1e999)", {}},  // no double
                                         {"scale(0.5)", 0.5},
                                         {"scale(n)", 3.0},
                                         {"scale(none)", {}},
                                         {"scale(m)", {}}}) {
    INFO(row.op);
    const MapOp op = parse_op(row.op);
    CHECK(real_of(op, numbers) == row.number);
    CHECK(unknown_numbers(op, numbers).empty() == row.number.has_value());
    CHECK_FALSE(map_of_whole(op, numbers, {2, 2}, 1));
  }
}

TEST_CASE("parse_op says what it does not know") {
  const auto said = [](const char* text) { return tests::error_of([&] { parse_op(text); }); };
  CHECK(said("fold(2)").starts_with(
      "map op 'fold(2)' is not known; known are same, ignore, tie, cast, dequant, add, "));
  CHECK(said("concat") == "map op 'concat' takes 1 arguments, not 0");
  CHECK(said("concat(0,1)") == "map op 'concat' takes 1 arguments, not 2");
  CHECK(said("same(1)") == "map op 'same' takes 0 arguments, not 1");
  CHECK(said("qkv_v0(1,2,3") == "map op 'qkv_v0(1,2,3' has no closing parenthesis");
  CHECK(said("glu(gate)") == "map op 'glu' takes the names of both halves, or none");
  CHECK(said("qkv_v0(4)") ==
        "map op 'qkv_v0' takes the numbers of heads, of groups and of rows a head, or none");
  CHECK(said("qkv_v1(4,2)").starts_with("map op 'qkv_v1' takes the numbers"));
  CHECK(said("glu(a,b,c)") == "map op 'glu' takes 2 arguments, not 3");
  CHECK(said("cast(float)") == "map op 'cast(float)' names no dtype");
  CHECK(said("dequant(nf4)") ==
        "map op 'dequant(nf4)' names no scheme; known are tensor, channel, block");
  CHECK(said("dequant(channel)").empty());
  CHECK(parse_op("glu()").arguments.empty());
  CHECK(parse_op("glu( gate ,up )").arguments == std::vector<std::string>{"gate", "up"});
}

TEST_CASE("a number that a map changes values by can be undone, and so can its square") {
  for (const char* text : {"scale(0)", "scale(1e-200)", "scale(1e200)", "add(inf)",
                           "scale(1e-154)",    // its square has less than all digits
                           "scale(9e153)"}) {  // and one over that
    CHECK(tests::error_of([&] { parse_op(text); }) ==
          "map op '" + std::string(text) + "' has no inverse");
  }
  for (const char* text : {"scale(1e-153)", "scale(1e153)", "scale(-2)", "add(0)", "add(1e300)"}) {
    CHECK_NOTHROW(parse_op(text));
  }
}

TEST_CASE("numbers that are not known") {
  const auto unknown = [](const char* text) {
    return unknown_numbers(parse_op(text), {{"heads", 1}});
  };
  using Words = std::vector<std::string>;
  CHECK(unknown("qkv_v0(heads, 2, head_dim)") == Words{"head_dim"});
  CHECK(unknown("concat(99999999999999999999)") == Words{"99999999999999999999"});
  for (const char* text : {"glu(gate, up)", "tie(embed)", "cast(bf16)", "dequant(block)", "same"}) {
    INFO(text);
    CHECK(unknown(text).empty());  // words that are no numbers
  }
}

}  // namespace
}  // namespace ttcheck::align
