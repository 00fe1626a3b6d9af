// SPDX-License-Identifier: Apache-2.0
#include "core/limits/stored.hpp"

#include <doctest/doctest.h>

namespace ttcheck::limits {
namespace {

TEST_CASE("a median of values with weights") {
  CHECK(weighted_median({}) == 0);
  CHECK(weighted_median({{3, 1}, {1, 1}, {2, 1}}) == 2);
  CHECK(weighted_median({{3, 10}, {1, 1}, {2, 1}}) == 3);
}

TEST_CASE("turned by one unit is rounding, a larger value is not") {
  Stored one;
  one.count = 4'096;
  one.eps = 0x1p-7;
  one.unequal = 1;
  one.units = 1, one.outlier = one.eps;
  CHECK(may_be_rounding(one, {}));
  one.units = 4, one.outlier = 4 * one.eps;
  CHECK(!may_be_rounding(one, {}));
  one.outlier = one.eps;  // a unit of a larger one
  CHECK(may_be_rounding(one, {}));
  one.one_bit = true;
  CHECK(!may_be_rounding(one, {}));
  one.outlier = one.eps / 2;
  CHECK(may_be_rounding(one, {}));
  one.outlier = 4 * one.eps;
  one.unequal = 40;  // many, by two units at most
  one.outlier = 2 * one.eps;
  CHECK(may_be_rounding(one, {}));
}

TEST_CASE("what all are held to at least: fp32, one element of the store, the way") {
  Stored one;
  one.count = 4'096;
  one.eps = 0x1p-7;
  CHECK(least_moved(one, {}).distance == doctest::Approx(1e-5));
  one.count = 8;
  CHECK(least_moved(one, {}).distance == doctest::Approx(0x1p-10));
  one.way = WaySince{.gone = 10};
  CHECK(least_moved(one, {}).distance == doctest::Approx(10 * kWayRounding));
  CHECK(least_apart(one, {}) == doctest::Approx(10 * kWayRounding));
}

}  // namespace
}  // namespace ttcheck::limits
