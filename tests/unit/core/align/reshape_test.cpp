// SPDX-License-Identifier: Apache-2.0
#include "core/align/reshape.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/error_of.hpp"
#include "tests/support/links.hpp"

namespace ttcheck::align {
namespace {

/// "[4, 6] as [8, 3]".
std::string words(const Shape& part, const Shape& whole) {
  std::string text;
  for (const Shape* shape : {&part, &whole}) {
    text += shape == &part ? "[" : " as [";
    for (const std::int64_t extent : *shape) text += " " + std::to_string(extent);
    text += " ]";
  }
  return text;
}

TEST_CASE("the same elements in the same order under another shape") {
  struct Row {
    Shape part, whole;
    std::size_t links;
    std::size_t loops;  ///< of each link
  };
  const std::vector<Row> rows = {
      {{}, {}, 1, 0},
      {{}, {1, 1}, 1, 0},
      {{1}, {}, 1, 0},
      {{6}, {6}, 1, 1},
      {{6}, {1, 6}, 1, 1},
      {{6, 1}, {6}, 1, 1},
      {{6}, {2, 3}, 1, 2},
      {{2, 3}, {6}, 1, 2},
      {{2, 3}, {2, 3}, 1, 2},
      {{2, 1, 3}, {1, 2, 3, 1}, 1, 2},
      {{4, 6}, {8, 3}, 1, 3},
      {{2, 3, 4}, {6, 2, 2}, 1, 4},
      {{2, 2, 2, 2}, {16}, 1, 4},
      {{4, 6}, {6, 4}, 8, 1},  // cut where a row of either ends: 4, 6, 8, 12, 16, 18, 20
      {{6, 4}, {4, 6}, 8, 1},
      {{2, 3}, {3, 2}, 4, 1},
      {{2, 3, 5}, {3, 2, 5}, 4, 2},  // the last runs together
      {{3, 4, 2}, {2, 6, 2}, 4, 2},
      {{2, 2, 6}, {3, 2, 4}, 8, 1},
      {{5, 2, 3}, {5, 3, 2}, 20, 1},
      {{0, 3}, {3, 0}, 0, 0},
      {{0}, {0}, 0, 0},
  };
  for (const Row& row : rows) {
    INFO(words(row.part, row.whole));
    const BoxMap map = reshaped(row.part, row.whole);
    CHECK(map.whole == row.whole);
    CHECK(map.parts == std::vector<Shape>{row.part});
    CHECK(map.outside.empty());
    CHECK(map.links.size() == row.links);
    for (const Link& link : map.links) CHECK(link.loops.size() == row.loops);
    tests::Linked all;
    for (std::int64_t i = 0; i < element_count(row.part); ++i) all.emplace_back(0, i, i);
    CHECK(tests::linked(map) == all);
  }
}

TEST_CASE("shapes that divide unevenly are cut no more often than is useful") {
  // Of n rows and m, which have no other end in common than the last: n + m - 1 stretches.
  CHECK(reshaped({32767, 32768}, {32768, 32767}).links.size() == 2 * 32767);
  CHECK(reshaped({32765, 32771}, {32771, 32765}).links.size() == 65535);
  CHECK(tests::error_of([] { reshaped({32768, 32769}, {32769, 32768}); }) ==
        "the map takes more than 65536 boxes");
}

}  // namespace
}  // namespace ttcheck::align
