// SPDX-License-Identifier: Apache-2.0
#include "core/explain/matching.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace ttcheck::explain {
namespace {

/// Slices by the first number of their sketches, the others are zero; of that norm.
Sketches sketches(const std::vector<double>& firsts, double norm = 1) {
  Sketches made;
  for (const double first : firsts) {
    made.of.push_back({first, 0, 0, 0});
    made.norm2.push_back(norm * norm);
  }
  return made;
}

TEST_CASE("each slice is found among the others, in its place where it can be") {
  struct Row {
    const char* what;
    std::vector<double> a, b;
    std::optional<std::vector<std::int64_t>> from;
    double noise = 0;
  };
  using From = std::vector<std::int64_t>;
  // The mean square of a sketch's four numbers may be (6 noise |slice|)^2: in its place a first
  // number may be 12 x noise off. Elsewhere each number is looked for within 6 x.
  const Row rows[] = {
      {"as they were", {1, 2, 3}, {1, 2, 3}, From{0, 1, 2}},
      {"rolled", {1, 2, 3}, {2, 3, 1}, From{1, 2, 0}},
      {"the other way round", {1, 2, 3}, {3, 2, 1}, From{2, 1, 0}},
      {"two of three", {1, 2, 3}, {1, 3, 2}, From{0, 2, 1}},
      {"alike ones stay", {1, 1, 2}, {1, 1, 2}, From{0, 1, 2}},
      {"alike ones are taken once each", {1, 2, 1}, {2, 1, 1}, From{1, 0, 2}},
      {"one is not there", {1, 2, 3}, {2, 3, 4}, {}},
      {"one is there too often", {1, 2, 3}, {1, 3, 3}, {}},
      {"one is there twice, and not in its place", {1, 2, 3, 4}, {3, 3, 4, 1}, {}},
      {"the first is not there", {1, 2, 3}, {4, 2, 1}, {}},
      {"the last is not there", {1, 2, 3}, {2, 1, 4}, {}},
      {"none", {}, {}, From{}},
      {"near in its place", {1, 2}, {1.75, 2.75}, From{0, 1}, 0.0625},
      {"not near enough", {1, 2}, {1.765625, 3}, {}, 0.0625},
      {"near elsewhere", {1, 4}, {4.375, 0.625}, From{1, 0}, 0.0625},
      {"below that", {1, 4}, {3.609375, 1}, {}, 0.0625},
      {"above that", {1, 4}, {4, 1.390625}, {}, 0.0625},
      {"the nearest of several", {1, 4, 4.5, 9}, {4.4, 9, 1, 3.9}, From{2, 3, 0, 1}, 0.0625},
      {"the middle one of three",
       {4.2, 4.4, 4.6, 1, 8, 12},
       {1, 8, 12, 4.45, 4.15, 4.65},
       From{3, 4, 5, 1, 0, 2},
       0.0625},
      {"of no order", {3, 1, 2, 4}, {1, 2, 3, 4}, From{1, 2, 0, 3}},
      {"which another has taken", {4.4, 4.6, 9}, {9, 4.6, 4.5}, From{2, 1, 0}, 0.0625},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    CHECK(matching(sketches(row.a), sketches(row.b), row.noise) == row.from);
  }
}

TEST_CASE("all numbers of a sketch count, and the candidate's own norm") {
  Sketches a = sketches({1, 2}), b = sketches({2, 1});
  a.of[0][3] = 1.5;  // the last number alone tells it from what is looked for
  CHECK_FALSE(matching(a, b, 1e-3));
  b.of[1][3] = 1.5;  // and finds it
  CHECK(matching(a, b, 1e-3));
  b = sketches({1.75, 2.75}, 2);
  CHECK(matching(sketches({1, 2}), b, 0.03125));  // twice the norm, half the noise
  b.norm2 = {4, 1};
  CHECK_FALSE(matching(sketches({1, 2}), b, 0.03125));
}

TEST_CASE("of many that are near, 64 are compared") {
  for (const std::size_t others : {63U, 64U}) {
    Sketches a = sketches(std::vector<double>(others, 0.9)), b;
    for (std::size_t n = 0; n < others; ++n) a.of[n][1] = 10 * static_cast<double>(n + 1);
    a.of.push_back({1, 0, 0, 0});  // the last in the order of first numbers
    a.norm2.push_back(1);
    b = a;
    std::ranges::rotate(b.of, b.of.end() - 1);
    CHECK(matching(a, b, 0.1).has_value() == (others < 64));
  }
}

TEST_CASE("what is left in an order") {
  const Sketches a = sketches({1, 2, 4}), b = sketches({2, 5, 1});
  CHECK(left2(a, b, {1, 2, 0}) == 0.25);      // (5 - 4)^2 / 4
  CHECK(left2(a, b, {0, 1, 2}) == 19.0 / 4);  // 1 + 9 + 9
  CHECK(left2(a, b, {}) == 0);
}

}  // namespace
}  // namespace ttcheck::explain
