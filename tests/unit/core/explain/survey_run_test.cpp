// SPDX-License-Identifier: Apache-2.0
#include "core/explain/survey_run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace ttcheck::explain {
namespace {

using Doubles = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

Limit tolerance(double rtol, double atol) {
  Limit limit;
  limit.kind = LimitKind::tolerance;
  limit.rtol = rtol;
  limit.atol = atol;
  return limit;
}

/// Of elements whose rms is 2.
ElementLimit outlier(double most) {
  Limit limit;
  limit.kind = LimitKind::model;
  limit.outlier = most;
  Metrics metrics;
  metrics.count = 5;
  metrics.taken_out = 1;
  metrics.sum_a2 = 16;
  return {limit, metrics};
}

Doubles wrong_of(const ElementLimit& limit, const Doubles& a, const Doubles& b) {
  SurveyRun run(limit);
  run.measure(a, b);
  run.each_wrong.resize(a.size());
  return run.each_wrong;
}

TEST_CASE("what one element may differ by") {
  CHECK(wrong_of({tolerance(0.1, 1), {}}, {10, 10, -10, 0}, {12, 12.5, -12.5, 1}) ==
        Doubles{0, 1, 1, 0});
  CHECK(wrong_of(outlier(0.5), {0, 0, 4, 4}, {1, 1.5, 6, 6.5}) == Doubles{0, 1, 0, 1});
  CHECK(wrong_of(outlier(0), {1, 0, -0.0}, {1, 1e-300, 0}) == Doubles{0, 1, 0});
}

TEST_CASE("sums of all elements, of those that are wrong, and of each") {
  SurveyRun run({tolerance(0, 1), {}});
  run.measure(Doubles{1, 2, 3, 4, 5}, Doubles{2, 0, 3, 1, 8});
  CHECK(run.d2 == 1 + 4 + 9 + 9);
  CHECK(run.a2 == 55);
  CHECK(run.b2 == 4 + 9 + 1 + 64);
  CHECK(run.ab == 2 + 9 + 4 + 40);
  CHECK(run.d == 1 - 2 - 3 + 3);
  CHECK(run.right_d2 == 1);
  CHECK(run.wrong_d == -2 - 3 + 3);
  CHECK(run.wrong == 3);
  CHECK(run.wrong_zeros == 1);
  CHECK(run.each_d2[3] == 9);
  CHECK(run.each_a2[4] == 25);
  run.measure(Doubles{1}, Doubles{1});  // the other five are forgotten
  CHECK(run.a2 == 1);
  CHECK(run.wrong == 0);
}

TEST_CASE("of a wrong element whose square is beyond a double the others know nothing") {
  SurveyRun run({tolerance(0, 1), {}});
  run.measure(Doubles{1, 2, 3}, Doubles{1.5, 1e300, 3});
  CHECK(run.d2 == kInfinity);
  CHECK(run.right_d2 == 0.25);
  CHECK(run.wrong_d == 1e300 - 2);
  CHECK(run.wrong == 1);
}

TEST_CASE("what is not finite is wrong unless both are alike, and in no sum") {
  SurveyRun run(outlier(1));
  run.measure(Doubles{kNan, kNan, kInfinity, kInfinity, 1, -kInfinity, 3},
              Doubles{kNan, 0, kInfinity, -kInfinity, kInfinity, -kInfinity, 3});
  CHECK(run.wrong == 3);
  CHECK(run.wrong_zeros == 1);
  CHECK(run.each_wrong[0] == 0);
  CHECK(run.each_wrong[1] == 1);
  CHECK(run.each_wrong[3] == 1);
  CHECK(run.each_wrong[4] == 1);
  CHECK(run.each_wrong[5] == 0);
  CHECK(run.a2 == 9);
  CHECK(run.b2 == 9);
  CHECK(run.d2 == 0);
}

}  // namespace
}  // namespace ttcheck::explain
