// SPDX-License-Identifier: Apache-2.0
#include "core/explain/grain.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace ttcheck::explain {
namespace {

TEST_CASE("numbers by the zero bits that their fractions end in") {
  struct Row {
    std::vector<double> values;
    int least, middle;
    std::int64_t count;
  };
  const Row rows[] = {
      {{1}, 52, 52, 1},
      {{-4096}, 52, 52, 1},
      {{1.5}, 51, 51, 1},
      {{-0.75}, 51, 51, 1},
      {{1 + 0x1p-52}, 0, 0, 1},
      {{1 + 0x1p-51}, 1, 1, 1},
      {{1, 1.5}, 51, 51, 2},           // of an even count the lower middle
      {{1, 1.5, 1.25}, 50, 51, 3},     //
      {{1, 1, 1, 1.25}, 50, 52, 4},    //
      {{1, 1, 1.5, 1.25}, 50, 51, 4},  //
      {{1.25, 1.25, 1.5, 1}, 50, 50, 4},
      {{0, -0.0, 1.5, 0}, 51, 51, 1},  // zeros have none
  };
  for (const Row& row : rows) {
    Grain grain;
    grain.add(row.values);
    CAPTURE(row.values.size());
    CAPTURE(row.values[0]);
    CHECK(grain.least() == row.least);
    CHECK(grain.middle() == row.middle);
    CHECK(grain.count() == row.count);
  }
  const Grain none;
  CHECK(none.least() == Grain::kFraction);
  CHECK(none.count() == 0);
}

}  // namespace
}  // namespace ttcheck::explain
