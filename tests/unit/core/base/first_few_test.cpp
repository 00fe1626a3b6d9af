// SPDX-License-Identifier: Apache-2.0
#include "core/base/first_few.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace ttcheck {

TEST_CASE("the first few names, and how many more there are") {
  const std::vector<std::string> names = {"a", "b", "c"};
  CHECK(first_few({}, 2).empty());
  CHECK(first_few(names, 3) == "a, b, c");
  CHECK(first_few(names, 2) == "a, b and 1 more");
  CHECK(first_few(names, 1) == "a and 2 more");
}

}  // namespace ttcheck
