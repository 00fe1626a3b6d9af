// SPDX-License-Identifier: Apache-2.0
#include "core/align/sequence.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace ttcheck::align {
namespace {

using Symbols = std::vector<std::uint32_t>;
using Matches = std::vector<std::pair<std::size_t, std::size_t>>;

/// Length of the longest common subsequence, by the textbook's table.
std::size_t longest(const Symbols& a, const Symbols& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1
                                         : std::max(table[i - 1][j], table[i][j - 1]);
    }
  }
  return table[a.size()][b.size()];
}

void check_valid(const Symbols& a, const Symbols& b, const Matches& matches) {
  for (std::size_t n = 0; n < matches.size(); ++n) {
    const auto [i, j] = matches[n];
    REQUIRE(i < a.size());
    REQUIRE(j < b.size());
    CHECK(a[i] == b[j]);
    if (n > 0) CHECK((matches[n - 1].first < i && matches[n - 1].second < j));
  }
}

TEST_CASE("equal sequences match place by place, and strangers not at all") {
  const Symbols a = {1, 2, 1, 2, 3};
  CHECK(common_sequence(a, a) == Matches{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}});
  CHECK(common_sequence(a, Symbols{7, 8}).empty());
  CHECK(common_sequence(a, Symbols{}).empty());
  CHECK(common_sequence(Symbols{}, Symbols{}).empty());
}

TEST_CASE("an insertion moves what follows; what is there once holds its place") {
  CHECK(common_sequence(Symbols{1, 2, 3}, Symbols{1, 9, 2, 3}) == Matches{{0, 0}, {1, 2}, {2, 3}});
  CHECK(common_sequence(Symbols{1, 2, 1, 5, 1, 2}, Symbols{1, 2, 5, 1, 1, 2}) ==
        Matches{{0, 0}, {1, 1}, {3, 2}, {4, 3}, {5, 5}});
}

TEST_CASE("what is there once on one side alone holds no place") {
  CHECK(common_sequence(Symbols{7}, Symbols{7, 7}) == Matches{{0, 0}});
  CHECK(common_sequence(Symbols{7, 7}, Symbols{7}) == Matches{{0, 0}});
  CHECK(common_sequence(Symbols{1, 7, 2}, Symbols{7, 1, 7, 2}) == Matches{{0, 1}, {1, 2}, {2, 3}});
  CHECK(common_sequence(Symbols{7, 1, 7, 2}, Symbols{1, 7, 2}) == Matches{{1, 0}, {2, 1}, {3, 2}});
}

TEST_CASE("of what is there once on both sides the longest run that ascends is kept") {
  CHECK(common_sequence(Symbols{1, 2, 3, 4}, Symbols{4, 1, 2, 3}) ==
        Matches{{0, 1}, {1, 2}, {2, 3}});
  CHECK(common_sequence(Symbols{9, 1, 2, 3}, Symbols{1, 2, 3, 9}) ==
        Matches{{1, 0}, {2, 1}, {3, 2}});
  CHECK(common_sequence(Symbols{1, 5, 6, 2, 3}, Symbols{1, 2, 3, 5, 6, 7}).size() == 3);
  CHECK(common_sequence(Symbols{3, 1, 4, 5, 2, 6}, Symbols{1, 2, 3, 4, 5, 6}).size() == 4);
}

TEST_CASE("stretches that differ in more places than asked for are left out whole") {
  const Symbols a = {1, 1, 2, 2, 1}, b = {2, 2, 1, 1, 2};  // three of each are common
  CHECK(common_sequence(a, b, 3).empty());
  CHECK(common_sequence(a, b, 4).size() == 3);
  CHECK(common_sequence(Symbols{7, 7}, Symbols{8, 8}, 4).empty());
}

TEST_CASE("repeated symbols match as often as the longest common subsequence allows") {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    Symbols a(random() % 30 + 20), b(random() % 30 + 20);
    for (auto& one : a) one = static_cast<std::uint32_t>(random() % 3);
    for (auto& one : b) one = static_cast<std::uint32_t>(random() % 3);
    // of three symbols in so many places none is there once
    if (std::ranges::any_of(Symbols{0, 1, 2}, [&](std::uint32_t symbol) {
          return std::ranges::count(a, symbol) < 2 || std::ranges::count(b, symbol) < 2;
        })) {
      continue;
    }
    const Matches matches = common_sequence(a, b);
    check_valid(a, b, matches);
    CHECK(matches.size() == longest(a, b));
  }
}

TEST_CASE("sequences that have nothing but noise in common are given up in bounded time") {
  Symbols a(200'000), b(200'000);
  std::mt19937 random(5);
  for (auto& one : a) one = static_cast<std::uint32_t>(random() % 50);
  for (auto& one : b) one = static_cast<std::uint32_t>(random() % 50);
  a.front() = b.front() = 99;
  const Matches matches = common_sequence(a, b);
  check_valid(a, b, matches);
  CHECK(matches.size() >= 1);
}

}  // namespace
}  // namespace ttcheck::align
