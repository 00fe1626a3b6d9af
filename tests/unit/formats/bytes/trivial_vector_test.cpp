// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/trivial_vector.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

namespace ttcheck::formats {
namespace {

TEST_CASE("a trivial vector keeps its values as it grows, is cut and is moved") {
  TrivialVector<int> held;
  CHECK(held.empty());
  for (int i = 0; i < 100'000; ++i) held.push_back(i);
  std::vector<int> more(100'000);
  std::iota(more.begin(), more.end(), 100'000);
  held.append(more);
  held.append({});
  REQUIRE(held.size() == 200'000);
  bool same = true;
  for (int i = 0; i < 200'000; ++i) same = same && held[static_cast<std::size_t>(i)] == i;
  CHECK(same);
  held.resize(3);
  CHECK(held.back() == 2);
  held.resize(5, 9);
  CHECK(std::vector<int>(held.begin(), held.end()) == std::vector<int>{0, 1, 2, 9, 9});
  TrivialVector<int> moved = std::move(held);
  CHECK(moved.size() == 5);
  moved = TrivialVector<int>();
  CHECK(moved.empty());
  moved.push_back(7);
  CHECK(moved.back() == 7);
}

TEST_CASE("a trivial vector refuses a size that no memory has") {
  TrivialVector<std::uint64_t> held;
  held.push_back(1);
  CHECK_THROWS_AS(held.resize(~std::size_t{0}), std::bad_alloc);
  CHECK(held.size() == 1);
}

}  // namespace
}  // namespace ttcheck::formats
