// SPDX-License-Identifier: Apache-2.0
#include "core/align/features.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/links.hpp"

namespace ttcheck::align {
namespace {

using Shapes = std::vector<Shape>;

/// For each element of the last dim of the parts, in order, its place in the last of the whole.
using Spots = std::vector<std::int64_t>;

TEST_CASE("what a projection puts out is cut as its weight's rows are") {
  struct Row {
    std::string what, op;
    Shape whole;
    std::size_t parts;
    Shapes known;
    Shapes made;   ///< the parts' shapes; none: the op does not admit it
    Spots places;  ///< of the parts, one behind the other
  };
  const Numbers numbers = {{"heads", 2}};
  const std::vector<Row> rows = {
      {"equal parts", "concat(0)", {2, 3, 4}, 2, {}, {{2, 3, 2}, {2, 3, 2}}, {0, 1, 2, 3}},
      {"of one dimension", "concat(0)", {4}, 2, {}, {{2}, {2}}, {0, 1, 2, 3}},
      {"of no dimension", "concat(0)", {}, 2, {}, {}, {}},
      {"unequal parts", "concat(0)", {3, 4}, 2, {{3, 1}, {3, 3}}, {{3, 1}, {3, 3}}, {0, 1, 2, 3}},
      {"parts without a dimension", "concat(0)", {3, 4}, 2, {{3, 1}, {}}, {}, {}},
      {"parts that do not fill it", "concat(0)", {3, 4}, 2, {{3, 1}, {3, 2}}, {}, {}},
      {"gate and up", "glu", {2, 6}, 2, {}, {{2, 3}, {2, 3}}, {0, 1, 2, 3, 4, 5}},
      {"query, key and value by group",
       "qkv_interleave(heads, 1, 1)",
       {2, 4},
       3,
       {},
       {{2, 2}, {2, 1}, {2, 1}},
       {0, 1, 2, 3}},
      {"two groups",
       "qkv_interleave(heads, heads, 1)",
       {2, 6},
       3,
       {},
       {{2, 2}, {2, 2}, {2, 2}},
       {0, 3, 1, 4, 2, 5}},
      {"a length that does not divide", "glu", {2, 5}, 2, {}, {}, {}},
      {"a number that is not known", "qkv_interleave(groups, 1, 1)", {2, 4}, 3, {}, {}, {}},
      {"a new dimension", "stack(0)", {2, 4}, 4, {}, {}, {}},
      {"what leaves some out", "slice(0, 0, 2)", {3, 2}, 1, {{3, 4}}, {}, {}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const auto map = features_of_whole(parse_op(row.op), numbers, row.whole, row.parts, row.known);
    REQUIRE(map.has_value() == !row.made.empty());
    if (!map) continue;
    CHECK(map->whole == row.whole);
    CHECK(map->parts == row.made);
    const std::int64_t width = row.whole.back();
    tests::Linked all;
    auto place = row.places.begin();
    for (std::size_t part = 0; part < row.made.size(); ++part) {
      const std::int64_t own = row.made[part].back();
      for (std::int64_t i = 0; i < own; ++i, ++place) {
        for (std::int64_t before = 0; before < element_count(row.whole) / width; ++before) {
          all.emplace_back(part, before * own + i, before * width + *place);
        }
      }
    }
    std::ranges::sort(all);
    CHECK(tests::linked(*map) == all);
  }
}

TEST_CASE("the parts' shapes are those that the op makes") {
  struct Row {
    Shapes parts;
    bool fits;
  };
  const std::vector<Row> rows = {
      {{{2, 3}, {2, 3}}, true},        {{{2, 3}}, false},
      {{{2, 3}, {1, 3}}, false},       {{{3}, {3}}, false},
      {{{2, 1, 3}, {2, 1, 3}}, false}, {{{2, 2}, {2, 4}}, false},
  };
  const Shapes no_axis = {{2, 2}, {}};
  CHECK_FALSE(features_of_whole(parse_op("glu"), {}, {}, 2));
  CHECK_FALSE(features_of_parts(parse_op("concat(0)"), {}, {2, 6}, no_axis));
  for (const Row& row : rows) {
    CHECK(features_of_parts(parse_op("glu"), {}, {2, 6}, row.parts).has_value() == row.fits);
  }
  CHECK(features_of_parts(parse_op("concat(0)"), {}, {2, 6}, Shapes{{2, 2}, {2, 4}}));
}

}  // namespace
}  // namespace ttcheck::align
