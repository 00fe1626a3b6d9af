// SPDX-License-Identifier: Apache-2.0
#include "core/compare/stored_stats.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace ttcheck::compare {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Limit model() {
  Limit limit;
  limit.kind = LimitKind::model;
  limit.rel = 0.01;
  limit.outlier = 0.1;
  return limit;
}

/// Of 4 elements: -2, -1, 1, 2 have norm sqrt(10).
StoredStats stats(double min, double max, double mean, double l2) {
  return {min, max, mean, l2, {}, {}, 4, {}};
}

TEST_CASE("each statistic is held to what its error can be at most") {
  const StoredStats a = stats(-2, 2, 0, 4);
  CHECK(compare_stats(a, a, model()).ratio == 0);
  CHECK(compare_stats(a, stats(-2, 2, 0, 4.02), model()).ratio == doctest::Approx(0.5));
  CHECK(compare_stats(a, stats(-2, 2.1, 0, 4), model()).ratio == doctest::Approx(0.5));
  CHECK(compare_stats(a, stats(-2, 2, 0.04, 4), model()).ratio == doctest::Approx(2));  // rms 2
  StoredStats none = a;
  none.l2.reset();
  StoredStats moved = none;
  moved.mean = 0.1;
  CHECK(compare_stats(none, moved, model()).ratio == doctest::Approx(0.5));  // over 2, an element's
  none.mean.reset();
  CHECK(compare_stats(none, moved, model()).ratio == 0);  // one side has none
  CHECK(compare_stats(a, stats(-2, 2, 0, 4.0001), Limit{}).ratio == kInf);
}

TEST_CASE("NaN and Inf agree with themselves alone, and hide no other statistic") {
  const StoredStats masked = stats(-kInf, 2, -kInf, kInf);
  CHECK(compare_stats(masked, masked, model()).alike);
  CHECK(compare_stats(masked, masked, model()).ratio == 0);
  CHECK(compare_stats(masked, stats(-kInf, 3, -kInf, kInf), model()).ratio == doctest::Approx(5));
  const auto nan = compare_stats(stats(-2, 2, 0, 4), stats(kNaN, kNaN, kNaN, kNaN), model());
  CHECK(nan.non_finite);
  CHECK(nan.ratio == kInf);
  CHECK(compare_stats(masked, stats(kInf, 2, -kInf, kInf), model()).non_finite);
}

TEST_CASE("counts are compared where both were stored") {
  StoredStats a = stats(-2, 2, 0, 4);
  StoredStats b = a;
  a.nan = 1;
  CHECK_FALSE(compare_stats(a, b, model()).non_finite);
  b.nan = 2;
  CHECK(compare_stats(a, b, model()).non_finite);
}

TEST_CASE("a tolerance holds each statistic as an element") {
  Limit limit;
  limit.kind = LimitKind::tolerance;
  limit.rtol = 0.1;
  limit.atol = 1;
  CHECK(compare_stats(stats(-2, 10, 0, 4), stats(-2, 12, 0, 4), limit).error == doctest::Approx(1));
}

}  // namespace
}  // namespace ttcheck::compare
