// SPDX-License-Identifier: Apache-2.0
#include "core/model/profile.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace ttcheck {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_CASE("sums add up, but the largest stays the larger") {
  Sums sums{1, 2, 3, 4, 5, 6, 7};
  sums.add({10, 20, 30, 40, 50, 60, 6});
  CHECK(sums.count == 11);
  CHECK(sums.unequal == 22);
  CHECK(sums.non_finite == 33);
  CHECK(sums.disagree == 44);
  CHECK(sums.a2 == 55);
  CHECK(sums.d2 == 66);
  CHECK(sums.largest == 7);
  sums.add({0, 0, 0, 0, 0, 0, 8});
  CHECK(sums.largest == 8);
  CHECK(sums.count == 11);
}

/// The words of ValueStats over `values`, the first with index `at`, by their definition.
ValueStats stats_of(const std::vector<double>& values, std::int64_t at) {
  ValueStats stats;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    const std::int64_t index = at + static_cast<std::int64_t>(i);
    if (std::isnan(value)) {
      if (stats.nan++ == 0) stats.first_nan = index;
    } else if (value == kInfinity) {
      if (stats.plus_inf++ == 0) stats.first_plus_inf = index;
    } else if (value == -kInfinity) {
      if (stats.minus_inf++ == 0) stats.first_minus_inf = index;
    } else {
      if (stats.finite == 0 || value < stats.least) {
        stats.least = value;
        stats.least_index = index;
      }
      if (stats.finite == 0 || value > stats.most) {
        stats.most = value;
        stats.most_index = index;
      }
      ++stats.finite;
      stats.zeros += value == 0 ? 1 : 0;
      stats.mean += value;
      stats.sum2 += value * value;
    }
  }
  if (stats.finite > 0) stats.mean /= static_cast<double>(stats.finite);
  for (const double value : values) {
    if (std::isfinite(value)) stats.m2 += (value - stats.mean) * (value - stats.mean);
  }
  return stats;
}

void check_same(const ValueStats& found, const ValueStats& expected, double m2_within = 1e-13) {
  CHECK(found.finite == expected.finite);
  CHECK(found.zeros == expected.zeros);
  CHECK(found.nan == expected.nan);
  CHECK(found.plus_inf == expected.plus_inf);
  CHECK(found.minus_inf == expected.minus_inf);
  CHECK(found.first_nan == expected.first_nan);
  CHECK(found.first_plus_inf == expected.first_plus_inf);
  CHECK(found.first_minus_inf == expected.first_minus_inf);
  CHECK(found.least == expected.least);
  CHECK(found.most == expected.most);
  CHECK(found.least_index == expected.least_index);
  CHECK(found.most_index == expected.most_index);
  CHECK(found.mean == doctest::Approx(expected.mean).epsilon(1e-13));
  CHECK(found.m2 == doctest::Approx(expected.m2).epsilon(m2_within));
  CHECK(found.sum2 == doctest::Approx(expected.sum2).epsilon(1e-13));
}

TEST_CASE("statistics of parts, put together, are those of the whole") {
  const double nan = std::nan("");
  const std::vector<std::vector<std::vector<double>>> rows = {
      {{}, {}},
      {{1, 2, 3}, {}},
      {{}, {1, 2, 3}},
      {{5}, {-5}},
      {{2, 2, 0}, {2, 0, 2}},  // ties: the first of them
      {{1, 7}, {7, 1, 9, -3}},
      {{100, 101}, {1, 2, 3, 4}},  // means far apart
      {{1, 2, 3, 4, 5}, {1e6}},
      {{nan, 1}, {nan, 2}},
      {{1}, {nan, kInfinity, -kInfinity}},
      {{kInfinity, kInfinity}, {kInfinity, nan}},
      {{-kInfinity}, {-kInfinity, 4, 0}},
      {{nan}, {nan}, {3, -0.0}},
      {{nan, kInfinity}, {0}, {-kInfinity, nan}, {2, 2}},
      {{-1, -2}, {-3}, {-4, -5}}};
  for (const auto& parts : rows) {
    CAPTURE(parts.size());
    std::vector<double> all;
    ValueStats sum;
    for (const std::vector<double>& part : parts) {
      sum.add(stats_of(part, static_cast<std::int64_t>(all.size())));
      all.insert(all.end(), part.begin(), part.end());
    }
    check_same(sum, stats_of(all, 0));
  }
}

TEST_CASE("the spread of small differences about a large mean is not lost between parts") {
  std::mt19937 random(3);
  std::vector<double> all;
  ValueStats sum;
  for (int part = 0; part < 50; ++part) {
    std::vector<double> values;
    for (int i = 0; i < 20; ++i) values.push_back(1e8 + static_cast<double>(random() % 5));
    sum.add(stats_of(values, static_cast<std::int64_t>(all.size())));
    all.insert(all.end(), values.begin(), values.end());
  }
  check_same(sum, stats_of(all, 0), 1e-7);  // the means are known to 1e-8
}

TEST_CASE("deviation and rms are of the population; of nothing finite they are 0") {
  const ValueStats some = stats_of({1, 3, 5, 7, std::nan(""), kInfinity}, 0);
  CHECK(some.deviation() == std::sqrt(5.0));  // 9 + 1 + 1 + 9 over 4
  CHECK(some.rms() == std::sqrt(21.0));       // 1 + 9 + 25 + 49 over 4
  CHECK(stats_of({-4}, 0).deviation() == 0);
  CHECK(stats_of({-4}, 0).rms() == 4);
  const ValueStats none = stats_of({std::nan(""), -kInfinity}, 0);
  CHECK(none.deviation() == 0);
  CHECK(none.rms() == 0);
}

TEST_CASE("the error of a bin is over its own size or what is usual for as many elements") {
  struct Row {
    Sums bin, all;
    double expected;
  };
  for (const Row& row : std::vector<Row>{
           // count, unequal, non_finite, disagree, a2, d2, largest
           {{4, 0, 0, 0, 16, 0, 0}, {8, 0, 0, 0, 20, 9, 0}, 0},
           {{4, 1, 0, 0, 16, 4, 0}, {8, 1, 0, 0, 20, 9, 0}, 0.5},  // 16 > 20 / 2
           {{4, 1, 0, 0, 1, 40, 0}, {8, 1, 0, 0, 20, 9, 0}, 2},    // usual: 20 / 2
           {{4, 1, 2, 0, 1, 20, 0}, {10, 1, 2, 0, 20, 9, 0}, 2},   // 2 finite of 8: 20 / 4
           {{4, 1, 1, 1, 16, 4, 0}, {8, 1, 1, 1, 20, 9, 0}, kInfinity},
           {{4, 4, 4, 4, 0, 0, 0}, {8, 4, 4, 4, 20, 0, 0}, kInfinity},
           {{4, 0, 4, 0, 0, 0, 0}, {4, 0, 4, 0, 0, 0, 0}, 0},
           {{1, 1, 0, 0, 0, 4, 2}, {2, 2, 0, 0, 0, 8, 2}, kInfinity}}) {  // A is zero everywhere
    Profile pair;
    pair.pair = true;
    pair.all = row.all;
    CHECK(bin_error(row.bin, pair) == row.expected);
  }
}

TEST_CASE("of one tensor a bin has its rms") {
  Profile one;
  one.all = {100, 0, 0, 0, 1e6, 0, 0};
  CHECK(bin_error({4, 0, 0, 0, 36, 0, 5}, one) == 3);
  CHECK(bin_error({6, 0, 2, 0, 36, 0, 5}, one) == 3);
  CHECK(bin_error({2, 0, 2, 0, 0, 0, 0}, one) == 0);
  CHECK(bin_error({}, one) == 0);
}

}  // namespace
}  // namespace ttcheck
