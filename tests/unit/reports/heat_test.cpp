// SPDX-License-Identifier: Apache-2.0
#include "reports/heat.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace ttcheck::reports {
namespace {

TEST_CASE("shades are steps below the largest") {
  const Heat ascii(8, false);
  CHECK(ascii.strip(std::vector<double>{8, 4.1, 4, 2, 0.001, 0, HUGE_VAL}, 10) == "@@%#. !");
  const Heat utf8(8, true);
  CHECK(utf8.strip(std::vector<double>{8, 2, 0.5, 0.125, 0.001, 0}, 10) == "█▓▒░░ ");
}

TEST_CASE("columns that share a shade show the largest") {
  const Heat heat(4, false);
  CHECK(heat.strip(std::vector<double>{0, 1, 0, 0, 4, 0}, 3) == "# @");
  CHECK(heat.strip(std::vector<double>{}, 3).empty());
}

TEST_CASE("nothing has no shade, and no bar") {
  CHECK(Heat(0, true).shade(0) == " ");
  CHECK(bar(0, 10, 40, false).empty());
  CHECK(bar(0.01, 10, 40, false) == "#");
  CHECK(bar(5, 10, 4, false) == "##");
  CHECK(bar(10, 10, 2, true) == "██");
}

}  // namespace
}  // namespace ttcheck::reports
