// SPDX-License-Identifier: Apache-2.0
#include "core/align/op_boxes.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace ttcheck::align {
namespace {

/// Where each row of each part lies in the whole, part behind part; along axis 0 of matrices.
std::vector<std::int64_t> rows_of(const BoxMap& map) {
  std::vector<std::int64_t> rows;
  for (const Link& link : map.links) {
    std::vector<std::pair<std::int64_t, std::int64_t>> at = {
        {link.part_start[0], link.whole_start[0]}};
    for (const Loop& loop : link.loops) {
      if (loop.part_axis != 0) continue;
      std::vector<std::pair<std::int64_t, std::int64_t>> more;
      for (const auto& [part, whole] : at) {
        for (std::int64_t i = 0; i < loop.size; ++i) {
          more.emplace_back(part + i * loop.part_step, whole + i * loop.whole_step);
        }
      }
      at = std::move(more);
    }
    std::set<std::pair<std::int64_t, std::int64_t>> sorted(at.begin(), at.end());
    for (const auto& [part, whole] : sorted) rows.push_back(whole);
  }
  return rows;
}

using Rows = std::vector<std::int64_t>;
using Shapes = std::vector<Shape>;

TEST_CASE("rows of the parts in the whole") {
  const auto check = [](const std::optional<BoxMap>& map, const Shapes& parts, const Rows& rows) {
    REQUIRE(map);
    CHECK(map->parts == parts);
    CHECK(rows_of(*map) == rows);
  };
  const HeadCounts heads{2, 1, 2};
  check(same_boxes({2, 3}), {{2, 3}}, {0, 1});
  check(concat_boxes({3, 2}, 0, std::array<std::int64_t, 2>{1, 2}), {{1, 2}, {2, 2}}, {0, 1, 2});
  check(concat_boxes({4, 2}, 0, 2, {}), {{2, 2}, {2, 2}}, {0, 1, 2, 3});
  check(concat_boxes({3, 2}, 0, 2, Shapes{{2, 2}, {1, 2}}), {{2, 2}, {1, 2}}, {0, 1, 2});
  check(qkv_boxes({8, 1}, 0, heads), {{4, 1}, {2, 1}, {2, 1}}, {0, 1, 2, 3, 4, 5, 6, 7});
  check(qkv_interleave_boxes({16, 1}, {4, 2, 2}), {{8, 1}, {4, 1}, {4, 1}},
        {0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15});
  check(qkv_v1_boxes({6, 1}), {{2, 1}, {2, 1}, {2, 1}}, {0, 3, 1, 4, 2, 5});
  check(rope_boxes({8, 1}, 2, 4), {{8, 1}}, {0, 2, 1, 3, 4, 6, 5, 7});
}

TEST_CASE("shapes that the whole does not admit") {
  CHECK_FALSE(concat_boxes({3, 2}, 0, std::array<std::int64_t, 2>{1, 1}));
  CHECK_FALSE(concat_boxes({3, 2}, 2, std::array<std::int64_t, 1>{3}));
  CHECK_FALSE(concat_boxes({3, 2}, 0, 2, {}));
  CHECK_FALSE(concat_boxes({3, 2}, 0, 0, {}));
  CHECK_FALSE(concat_boxes({3, 2}, 1, 2, Shapes{{3}, {3}}));
  CHECK_FALSE(stack_boxes({3, 2}, 0, 2));
  CHECK_FALSE(stack_glu_boxes({3, 2}, 4, false, false));
  CHECK_FALSE(stack_glu_boxes({2, 3}, 4, false, false));
  CHECK_FALSE(qkv_boxes({7, 1}, 0, {2, 1, 2}));
  CHECK_FALSE(qkv_interleave_boxes({7, 1}, {2, 1, 2}));
  CHECK_FALSE(qkv_v1_boxes({4, 1}));
  CHECK_FALSE(rope_boxes({8, 1}, 0, 4));
  CHECK_FALSE(rope_boxes({6, 1}, 2, 3));
  CHECK_FALSE(rope_boxes({9, 1}, 2, 4));
}

TEST_CASE("a slice leaves out what is beside it") {
  const auto map = slice_boxes({4, 2}, 0, 1, 3);
  REQUIRE(map);
  CHECK(map->whole == Shape{2, 2});
  CHECK(map->links[0].part_start == Extents{1, 0});
  CHECK(map->outside.size() == 2);
  CHECK(slice_boxes({4, 2}, 0, 2, 2)->whole == Shape{0, 2});
  CHECK_FALSE(slice_boxes({4, 2}, 0, -1, 3));
  CHECK_FALSE(slice_boxes({4, 2}, 0, 3, 1));
  CHECK_FALSE(slice_boxes({4, 2}, 0, 1, 5));
  CHECK_FALSE(slice_boxes({4, 2}, 2, 0, 1));
  CHECK_FALSE(slice_boxes({4, 2}, -1, 0, 1));
}

TEST_CASE("experts, one behind the other") {
  const auto stacked = stack_boxes({2, 3, 5}, 0, 2);
  REQUIRE(stacked);
  CHECK(stacked->parts == Shapes{{3, 5}, {3, 5}});
  CHECK(stacked->links[1].whole_start == Extents{1, 0, 0});
  const auto halves = stack_glu_boxes({2, 6, 5}, 4, false, false);
  REQUIRE(halves);
  CHECK(halves->parts == Shapes(4, Shape{3, 5}));
  CHECK(halves->links[3].whole_start == Extents{1, 3, 0});
  const auto pairs = stack_glu_boxes({2, 5, 6}, 4, true, true);
  REQUIRE(pairs);
  CHECK(pairs->parts == Shapes(4, Shape{3, 5}));
  CHECK(pairs->links[3].whole_start == Extents{1, 0, 1});
  CHECK(pairs->links[3].loops[0].whole_step == 2);
}

TEST_CASE("turned parts have their axes the other way round") {
  const BoxMap map = turned_boxes(same_boxes({2, 3}));
  CHECK(map.parts == Shapes{{3, 2}});
  CHECK(map.links[0].loops[0].part_axis == 1);
  CHECK(map.links[0].loops[0].whole_axis == 0);
  CHECK(turned_boxes(same_boxes({2})).parts == Shapes{{2}});
  CHECK(turned_boxes(same_boxes({2, 3, 4})).parts == Shapes{{2, 3, 4}});
}

}  // namespace
}  // namespace ttcheck::align
