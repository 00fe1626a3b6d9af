// SPDX-License-Identifier: Apache-2.0
#include "core/model/extents.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace ttcheck {
namespace {

/// std::vector is the oracle: what it does under the same calls.
TEST_CASE("extents do what a vector does, in place and beyond") {
  std::mt19937 random(7);
  Extents ours;
  std::vector<std::int64_t> theirs;
  const auto below = [&](std::size_t end) {
    return static_cast<std::ptrdiff_t>(random() % std::max<std::size_t>(end, 1));
  };
  for (int i = 0; i < 20000; ++i) {
    const auto value = static_cast<std::int64_t>(random());
    const std::ptrdiff_t at = below(theirs.size() + 1);
    const std::ptrdiff_t victim = below(theirs.size());
    switch (random() % 9) {
      case 0:
        ours.push_back(value);
        theirs.push_back(value);
        break;
      case 1:
        ours.insert(ours.begin() + at, value);
        theirs.insert(theirs.begin() + at, value);
        break;
      case 2:
        if (theirs.empty()) break;
        ours.erase(ours.begin() + victim);
        theirs.erase(theirs.begin() + victim);
        break;
      case 3:
        if (theirs.empty()) break;
        ours.pop_back();
        theirs.pop_back();
        break;
      case 4:
        ours.resize(static_cast<std::size_t>(value % 8), value);
        theirs.resize(static_cast<std::size_t>(value % 8), value);
        break;
      case 5: {
        Extents other = std::move(ours);
        CHECK(ours.empty());
        ours = other;
        ours = std::move(other);
        break;
      }
      case 6:
        ours.assign(2, value);
        theirs.assign(2, value);
        break;
      case 7: {
        const std::vector<std::int64_t> more = {1, 2, 3};
        ours.insert(ours.begin() + at, more.begin(), more.end());
        theirs.insert(theirs.begin() + at, more.begin(), more.end());
        break;
      }
      default:
        ours = Extents(ours.begin() + victim, ours.end());
        theirs = std::vector<std::int64_t>(theirs.begin() + victim, theirs.end());
    }
    REQUIRE(std::vector<std::int64_t>(ours.begin(), ours.end()) == theirs);
  }
}

TEST_CASE("extents are ordered as vectors are") {
  const std::vector<Extents> ascending = {{}, {0}, {0, 1}, {0, 1, 2, 3}, {1}, {1, -1}, {1, 0}};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      CHECK((ascending[i] < ascending[j]) == (i < j));
      CHECK((ascending[i] == ascending[j]) == (i == j));
    }
  }
}

}  // namespace
}  // namespace ttcheck
