// SPDX-License-Identifier: Apache-2.0
#include "core/model/metrics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace ttcheck {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMost = std::numeric_limits<double>::max();
constexpr double kLeast = std::numeric_limits<double>::denorm_min();

TEST_CASE("rel is |B-A| / |A|, and the largest relative difference where squares leave fp64") {
  struct Row {
    double d2, a2, max_abs, max_rel, expected;
  };
  for (const Row& row : std::vector<Row>{{0, 0, 0, 0, 0},
                                         {0, 4, 0, 0, 0},
                                         {4, 4, 2, 0.75, 1},
                                         {1, 4, 1, 0.75, 0.5},
                                         {9, 4, 3, 0.75, 1.5},
                                         {4, 0, 2, 1, kInfinity},
                                         {kMost, kMost, 1e154, 0.75, 1},
                                         {kMost, 1, 1e154, 0.75, std::sqrt(kMost)},
                                         {kInfinity, 1, 1e200, 0.75, 0.75},
                                         {1, kInfinity, 1, 0.75, 0.75},
                                         {kInfinity, kInfinity, 1e200, 0.25, 0.25},
                                         {kInfinity, 0, 1e200, 1, 1},
                                         {std::nan(""), 1, 1, 0.5, 0.5},
                                         {1, std::nan(""), 1, 0.5, 0.5},
                                         {0, 4, 1e-200, 0.5, 0.5},  // all squares vanished
                                         {0, 0, 1e-200, 1, 1},
                                         {kLeast, kLeast, 1e-162, 0.75, 0.75},
                                         {0x1p-901, 0x1p-901, 0x1p-451, 0.75, 0.75},
                                         {0x1p-900, 0x1p-900, 0x1p-450, 0.75, 1},
                                         {0x1p-900, 0x1p-898, 0x1p-450, 0.75, 0.5},
                                         {0, kLeast, 0, 0.75, 0}}) {
    INFO(row.d2 << " of " << row.a2);
    Metrics metrics;
    metrics.sum_d2 = row.d2;
    metrics.sum_a2 = row.a2;
    metrics.sum_b2 = 7;  // no part of it
    metrics.max_abs = row.max_abs;
    metrics.max_rel = row.max_rel;
    CHECK(metrics.rel() == row.expected);
  }
}

TEST_CASE("rmse is over all elements; of none it is 0") {
  struct Row {
    std::int64_t count;
    double d2, expected;
  };
  for (const Row& row : std::vector<Row>{{0, 0, 0},
                                         {1, 0, 0},
                                         {1, 9, 3},
                                         {4, 9, 1.5},
                                         {100, kInfinity, kInfinity},
                                         {1, kLeast, 0x1p-537},
                                         {std::int64_t{1} << 40, 1, 0x1p-20}}) {
    INFO(row.d2 << " over " << row.count);
    Metrics metrics;
    metrics.count = row.count;
    metrics.sum_d2 = row.d2;
    CHECK(metrics.rmse() == row.expected);
  }
}

/// The sums of two vectors whose lengths and distance are known.
Metrics sums(double a2, double b2, double d2) {
  Metrics metrics;
  metrics.sum_a2 = a2;
  metrics.sum_b2 = b2;
  metrics.sum_d2 = d2;
  return metrics;
}

TEST_CASE("the cosine by the law of cosines, within [-1, 1]") {
  struct Row {
    double a2, b2, d2, expected;
  };
  for (const Row& row : std::vector<Row>{{0, 0, 0, 1},
                                         {4, 0, 4, 0},
                                         {0, 4, 4, 0},
                                         {4, 4, 0, 1},
                                         {4, 4, 16, -1},  // opposite
                                         {9, 16, 25, 0},  // 3, 4, 5
                                         {9, 1, 4, 1},    // three times as long
                                         {9, 1, 16, -1},
                                         {1, 1, 1, 0.5},  // 60 degrees
                                         {4, 4, 12, -0.5},
                                         {1, 4, 3, 0.5},
                                         {4, 1, 3, 0.5},
                                         {1, 1, 0x1p-40, 1 - 0x1p-41},
                                         {4, 1, 0.5, 1},  // sums rounded a little short
                                         {4, 4, 17, -1},  // and a little long
                                         {kLeast, kLeast, 0, 1}}) {
    INFO(row.a2 << " " << row.b2 << " " << row.d2);
    CHECK(sums(row.a2, row.b2, row.d2).cosine() == row.expected);
  }
}

TEST_CASE("the ratio of the norms; a candidate beside nothing is infinitely long") {
  struct Row {
    double a2, b2, expected;
  };
  for (const Row& row : std::vector<Row>{{0, 0, 1},
                                         {0, kLeast, kInfinity},
                                         {0, kInfinity, kInfinity},
                                         {4, 0, 0},
                                         {4, 4, 1},
                                         {4, 9, 1.5},
                                         {9, 4, std::sqrt(4.0 / 9)},
                                         {1, kInfinity, kInfinity},
                                         {kInfinity, 1, 0},
                                         {kLeast, kLeast, 1}}) {
    INFO(row.b2 << " over " << row.a2);
    CHECK(sums(row.a2, row.b2, 7).norm_ratio() == row.expected);
  }
}

TEST_CASE("sums beyond the range of fp64 have no angle, and no ratio where both are") {
  CHECK(std::isnan(sums(kInfinity, kInfinity, 1).cosine()));
  CHECK(std::isnan(sums(kInfinity, 1, kInfinity).cosine()));
  CHECK(std::isnan(sums(kInfinity, kInfinity, 1).norm_ratio()));
}

TEST_CASE("the worst element: a disagreement, else the largest difference, else none") {
  struct Row {
    std::int64_t non_finite, max_abs, expected;
  };
  for (const Row& row : std::vector<Row>{
           {-1, -1, -1}, {-1, 0, 0}, {-1, 5, 5}, {0, 5, 0}, {7, 5, 7}, {7, -1, 7}, {0, -1, 0}}) {
    Metrics metrics;
    metrics.non_finite_index = row.non_finite;
    metrics.max_abs_index = row.max_abs;
    metrics.max_rel_index = 99;
    CHECK(worst_index(metrics) == row.expected);
  }
}

}  // namespace
}  // namespace ttcheck
