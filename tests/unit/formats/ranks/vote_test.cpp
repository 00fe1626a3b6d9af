// SPDX-License-Identifier: Apache-2.0
// The usual one of several values.

#include "formats/ranks/vote.hpp"

#include <doctest/doctest.h>

#include <map>
#include <vector>

namespace ttcheck::formats {
namespace {

using Votes = std::map<int, std::vector<char>>;

TEST_CASE("the usual value is the one of most, and none on a tie") {
  CHECK_FALSE(usual_of(Votes{}));
  CHECK(usual_of(Votes{{4, {'a'}}}) == 4);
  CHECK(usual_of(Votes{{4, {'a'}}, {5, {'b', 'c'}}}) == 5);
  CHECK_FALSE(usual_of(Votes{{4, {'a'}}, {5, {'b'}}}));
  CHECK(usual_of(Votes{{4, {'a'}}, {5, {'b'}}, {6, {'c', 'd'}}}) == 6);
  CHECK_FALSE(usual_of(Votes{{4, {'a', 'b'}}, {5, {'c'}}, {6, {'d', 'e'}}}));
}

TEST_CASE("values that fit go before others, however many state these") {
  const auto even = [](int value) { return value % 2 == 0; };
  CHECK(usual_of(Votes{{4, {'a'}}, {5, {'b', 'c'}}}, even) == 4);
  CHECK(usual_of(Votes{{3, {'a'}}, {5, {'b', 'c'}}}, even) == 5);
}

}  // namespace
}  // namespace ttcheck::formats
