// SPDX-License-Identifier: Apache-2.0
#include "core/model/box.hpp"

#include <doctest/doctest.h>

namespace ttcheck {
namespace {

TEST_CASE("boxes_of_range covers every linear range exactly once, in order") {
  const Shape shape{3, 4, 5};
  for (std::int64_t begin = 0; begin <= 60; ++begin) {
    for (std::int64_t end = begin; end <= 60; ++end) {
      std::int64_t next = begin;
      for (const Box& box : boxes_of_range(shape, begin, end)) {
        CHECK(linear_index(shape, box.lo) == next);
        next += volume(box);
      }
      CHECK(next == end);
    }
  }
}

TEST_CASE("subtract leaves the rest of a box") {
  const Box box{{0, 0}, {4, 4}};
  std::int64_t left = 0;
  for (const Box& rest : subtract(box, {{1, 1}, {2, 2}})) {
    CHECK(!intersect(rest, {{1, 1}, {2, 2}}));
    left += volume(rest);
  }
  CHECK(left == 12);
}

TEST_CASE("a scalar is one box without dimensions") {
  CHECK(boxes_of_range({}, 0, 1).size() == 1);
  CHECK(element_count({}) == 1);
}

}  // namespace
}  // namespace ttcheck
