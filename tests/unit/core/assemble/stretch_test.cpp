// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/stretch.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/error_of.hpp"
#include "tests/support/plan_of.hpp"

namespace ttcheck::assemble {
namespace {

using tests::error_of;
using tests::plan_of;

/// local, global, size of each.
using Told = std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>>;

Told told(const std::vector<Stretch>& list) {
  Told all;
  for (const Stretch& one : list) all.emplace_back(one.local, one.global, one.size);
  return all;
}

TEST_CASE("indices in storage order, with room for padding or without") {
  struct Row {
    std::string what;
    std::vector<Range> ranges;
    std::int64_t length;
    Told padded, bare;
    std::int64_t total;
  };
  const std::vector<Row> rows = {
      {"nothing", {}, 4, {}, {}, 0},
      {"no padding", {{0, 3}}, 3, {{0, 0, 3}}, {{0, 0, 3}}, 3},
      {"two ranges", {{4, 6}, {0, 1}}, 6, {{0, 4, 2}, {2, 0, 1}}, {{0, 4, 2}, {2, 0, 1}}, 3},
      {"padding alone", {{4, 6}}, 4, {}, {}, 0},
      {"a padded end", {{3, 6}}, 4, {{0, 3, 1}}, {{0, 3, 1}}, 1},
      {"padding between",
       {{2, 4}, {6, 8}, {4, 5}},
       5,
       {{0, 2, 2}, {4, 4, 1}},
       {{0, 2, 2}, {2, 4, 1}},
       3},
      {"half a range of padding before another",
       {{4, 6}, {0, 2}},
       5,
       {{0, 4, 1}, {2, 0, 2}},
       {{0, 4, 1}, {1, 0, 2}},
       3},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const auto padded = stretches(row.ranges, row.length, true);
    CHECK(told(padded) == row.padded);
    CHECK(told(stretches(row.ranges, row.length, false)) == row.bare);
    CHECK(total(padded) == row.total);
  }
}

TEST_CASE("what lies where along each dimension of a rank's array") {
  struct Row {
    std::string what;
    std::string line;
    Shape logical, stored;
    bool stated;
    std::int64_t at;
    std::optional<Shape> shape;
    std::vector<Told> lists;  ///< empty: an error
    std::string error;
  };
  const std::vector<Row> rows = {
      {"no dimension", "", {}, {}, false, 0, Shape{}, {}, ""},
      {"not looked at", "x[tp] y", {5, 3}, {5, 3}, false, 1, {}, {{{0, 3, 2}}, {{0, 0, 3}}}, ""},
      {"as planned",
       "x[tp] y",
       {5, 3},
       {5, 3},
       false,
       1,
       Shape{2, 3},
       {{{0, 3, 2}}, {{0, 0, 3}}},
       ""},
      {"too short",
       "x[tp] y",
       {5, 3},
       {5, 3},
       false,
       0,
       Shape{2, 3},
       {},
       "dimension 0 has 2 here, expected 3 of 5"},
      {"too long",
       "x[tp] y",
       {5, 3},
       {5, 3},
       false,
       0,
       Shape{3, 4},
       {},
       "dimension 1 has 4 here, expected 3 of 3"},
      {"too long, but the shape is stated",
       "x[tp] y",
       {5, 3},
       {5, 3},
       true,
       0,
       Shape{3, 4},
       {{{0, 0, 3}}, {{0, 0, 3}}},
       ""},
      {"too short, though the shape is stated",
       "x[tp] y",
       {5, 3},
       {5, 3},
       true,
       1,
       Shape{1, 3},
       {},
       "dimension 0 has 1 here, expected 2 of 5"},
      {"with its padding", "x[tp]", {5}, {8}, false, 1, Shape{4}, {{{0, 4, 1}}}, ""},
      {"without its padding", "x[tp]", {5}, {8}, false, 1, Shape{1}, {{{0, 4, 1}}}, ""},
      {"with half of it",
       "x[tp]",
       {5},
       {8},
       false,
       1,
       Shape{3},
       {},
       "dimension 0 has 3 here, expected 4 of 5"},
      {"with more than it", "x[tp]", {5}, {8}, false, 1, Shape{5}, {{{0, 4, 1}}}, ""},
      {"padded between parts, with it",
       "(a|b)[tp]",
       {6},
       {8},
       false,
       1,
       Shape{4},
       {{{0, 2, 1}, {2, 5, 1}}},
       ""},
      {"padded between parts, without it",
       "(a|b)[tp]",
       {6},
       {8},
       false,
       1,
       Shape{2},
       {{{0, 2, 1}, {1, 5, 1}}},
       ""},
      {"nothing but padding", "x[tp]", {2}, {4}, false, 1, Shape{2}, {{}}, ""},
      {"nothing at all", "x[tp]", {2}, {4}, false, 1, Shape{0}, {{}}, ""},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Plan plan = plan_of({{"tp", 2}}, row.line, row.logical, row.stored);
    plan.stated = row.stated;
    std::vector<Told> lists;
    const std::string error = error_of([&] {
      for (const auto& list : grid({row.at}, plan, row.shape ? &*row.shape : nullptr)) {
        lists.push_back(told(list));
      }
    });
    CHECK(error == row.error);
    CHECK(lists == row.lists);
  }
}

TEST_CASE("the shape of an array with its padding") {
  const Plan plan = plan_of({{"tp", 3}}, "x[tp] y z", {7, 2, 0}, {9, 4, 0});
  CHECK(padded_shape({0}, plan) == Shape{3, 4, 0});
  CHECK(padded_shape({2}, plan) == Shape{3, 4, 0});
  CHECK(padded_shape({1}, plan_of({{"tp", 3}}, "x[tp] y", {7, 2})) == Shape{3, 2});
  CHECK(padded_shape({2}, plan_of({{"tp", 3}}, "x[tp] y", {7, 2})) == Shape{1, 2});
  CHECK(padded_shape({0}, plan_of({{"tp", 3}}, "", {})).empty());
}

TEST_CASE("boxes of all combinations, the last dimension fastest") {
  struct Row {
    std::string what;
    std::vector<std::vector<Stretch>> dims;
    std::vector<std::pair<Box, Extents>> boxes;
  };
  const std::vector<Row> rows = {
      {"a number", {}, {{{{}, {}}, {}}}},
      {"a row", {{{1, 5, 2}}}, {{{{1}, {2}}, {5}}}},
      {"a dimension of nothing", {{{0, 0, 2}}, {}}, {}},
      {"two by two",
       {{{0, 4, 1}, {1, 8, 2}}, {{0, 3, 5}, {5, 9, 6}}},
       {{{{0, 0}, {1, 5}}, {4, 3}},
        {{{0, 5}, {1, 6}}, {4, 9}},
        {{{1, 0}, {2, 5}}, {8, 3}},
        {{{1, 5}, {2, 6}}, {8, 9}}}},
      {"two by one by three",
       {{{0, 0, 1}, {1, 2, 1}}, {{7, 7, 7}}, {{0, 0, 1}, {1, 1, 1}, {2, 2, 1}}},
       {{{{0, 7, 0}, {1, 7, 1}}, {0, 7, 0}},
        {{{0, 7, 1}, {1, 7, 1}}, {0, 7, 1}},
        {{{0, 7, 2}, {1, 7, 1}}, {0, 7, 2}},
        {{{1, 7, 0}, {1, 7, 1}}, {2, 7, 0}},
        {{{1, 7, 1}, {1, 7, 1}}, {2, 7, 1}},
        {{{1, 7, 2}, {1, 7, 1}}, {2, 7, 2}}}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const std::vector<Placed> boxes = product(row.dims);
    REQUIRE(boxes.size() == row.boxes.size());
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      INFO("box ", i);
      CHECK(boxes[i].local == row.boxes[i].first);
      CHECK(boxes[i].global == row.boxes[i].second);
    }
  }
}

TEST_CASE("no more boxes than a piece may have") {
  const std::vector<Stretch> most(kMaxCells), half(kMaxCells / 2 + 1), two(2), one(1);
  CHECK(product({most}).size() == kMaxCells);
  CHECK(product({most, one}).size() == kMaxCells);
  for (const auto& dims : {std::vector{half, two}, {two, half}, {half, two, {}}, {most, most}}) {
    CHECK(error_of([&] { product(dims); }) == "a piece is cut into more than 262144 boxes");
  }
}

}  // namespace
}  // namespace ttcheck::assemble
