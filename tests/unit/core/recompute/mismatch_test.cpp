// SPDX-License-Identifier: Apache-2.0
// Mismatch over parts, held to plain loops over the whole tensor.

#include "core/recompute/mismatch.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace ttcheck::recompute {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Values {
  std::int64_t width = 1;
  std::vector<double> expected, dumped;
};

/// Rows are cut where parts are: cuts at whole rows keep them whole.
Mismatch told(const Values& values, const std::vector<std::size_t>& cuts,
              DType dtype = DType::f32) {
  Mismatch sum(values.width);
  for (std::size_t n = 0; n + 1 < cuts.size(); ++n) {
    Mismatch part(values.width);
    const std::size_t size = cuts[n + 1] - cuts[n];
    part.add(static_cast<std::int64_t>(cuts[n]), std::span(values.expected).subspan(cuts[n], size),
             std::span(values.dumped).subspan(cuts[n], size), dtype);
    sum.append(part);
  }
  return sum;
}

struct Expected {
  double rel = 0, row = 0, outlier = 0, share = 0;
  std::int64_t worst = -1, worst_share = -1;
};

void keep(double error, std::size_t at, double& most, std::int64_t& index) {
  if (error <= most) return;
  most = error;
  index = static_cast<std::int64_t>(at);
}

/// Of finite values.
Expected by_loops(const Values& values) {
  Expected all;
  const std::size_t count = values.expected.size();
  double d2 = 0, y2 = 0;
  for (std::size_t i = 0; i < count; ++i) {
    d2 += std::pow(values.dumped[i] - values.expected[i], 2);
    y2 += std::pow(values.expected[i], 2);
  }
  const double rms = std::sqrt(y2 / static_cast<double>(count));
  all.rel = d2 == 0 ? 0 : (y2 == 0 ? kInfinite : std::sqrt(d2 / y2));
  const auto width = static_cast<std::size_t>(values.width);
  for (std::size_t from = 0; from < count; from += width) {
    double row_d2 = 0, row_y2 = 0;
    for (std::size_t i = from; i < std::min(from + width, count); ++i) {
      const double d = std::fabs(values.dumped[i] - values.expected[i]);
      const double y = std::fabs(values.expected[i]);
      row_d2 += d * d;
      row_y2 += y * y;
      keep(d == 0 ? 0 : d / std::max(y, rms), i, all.outlier, all.worst);
      keep(d == 0 ? 0 : d / std::max(y, rms / 1024), i, all.share, all.worst_share);
    }
    const double usual = rms * std::sqrt(static_cast<double>(width));
    if (row_d2 > 0)
      all.row = std::max(all.row, std::sqrt(row_d2) / std::max(std::sqrt(row_y2), usual));
  }
  return all;
}

/// Approx holds no infinity to be near another.
bool near(double a, double b) { return a == b || a == doctest::Approx(b).epsilon(1e-12); }

void check(const Mismatch& told, const Expected& expected) {
  CHECK(near(told.rel(), expected.rel));
  CHECK(near(told.row(), expected.row));
  CHECK(near(told.outlier(), expected.outlier));
  CHECK(near(told.share(), expected.share));
  CHECK(told.worst() == expected.worst);
  CHECK(told.worst_share() == expected.worst_share);
}

std::vector<std::size_t> cut_in(std::size_t k, std::size_t rows, std::size_t width) {
  std::vector<std::size_t> cuts;
  for (std::size_t n = 0; n <= k; ++n) cuts.push_back(rows * n / k * width);
  return cuts;
}

Values ones(std::size_t rows, std::size_t width) {
  return {static_cast<std::int64_t>(width), std::vector<double>(rows * width, 1),
          std::vector<double>(rows * width, 1)};
}

TEST_CASE("k parts tell what plain loops tell") {
  for (const auto& [rows, width] : {std::pair{1U, 1U}, {1U, 50U}, {50U, 1U}, {21U, 17U}}) {
    std::mt19937 random(rows * 100 + width);
    std::normal_distribution<double> normal;
    Values values = ones(rows, width);
    for (std::size_t i = 0; i < values.expected.size(); ++i) {
      values.expected[i] = normal(random);
      values.dumped[i] = values.expected[i] + (i % 3 == 0 ? normal(random) * 1e-3 : 0);
    }
    // of each power of two the largest error alone is kept: let no two peaks share one
    values.dumped.back() = values.expected.back() + 3;
    for (const std::size_t k : {1U, 2U, 3U, 7U}) {
      CAPTURE(rows);
      CAPTURE(width);
      CAPTURE(k);
      const Mismatch found = told(values, cut_in(k, rows, width));
      const Mismatch whole = told(values, {0, values.expected.size()});
      const Expected expected = by_loops(values);
      CHECK(found.count() == static_cast<std::int64_t>(values.expected.size()));
      CHECK(found.rel() == doctest::Approx(expected.rel).epsilon(1e-12));
      CHECK(found.row() == doctest::Approx(whole.row()).epsilon(1e-12));
      CHECK(found.row() <= expected.row * (1 + 1e-12));
      CHECK(found.row() >= expected.row / 2);  // its row shares a power of two with a larger one
      CHECK(found.outlier() == doctest::Approx(whole.outlier()).epsilon(1e-12));
      CHECK(found.share() == doctest::Approx(whole.share()).epsilon(1e-12));
      CHECK(found.worst() == whole.worst());
      CHECK(found.worst_share() == whole.worst_share());
    }
  }
}

TEST_CASE("one fault at each place, in any part") {
  for (std::size_t at = 0; at < 42; ++at) {
    Values values = ones(14, 3);
    values.dumped[at] = 1.5;
    for (const std::size_t k : {1U, 2U, 3U, 7U}) {
      CAPTURE(at);
      CAPTURE(k);
      const Mismatch found = told(values, cut_in(k, 14, 3));
      check(found, by_loops(values));
      CHECK(found.worst() == static_cast<std::int64_t>(at));
      CHECK(found.outlier() == doctest::Approx(0.5));
    }
  }
}

TEST_CASE("the worse of two faults counts, before or behind; of equal ones the first") {
  for (const auto& [first, last] : {std::pair{1.5, 1.25}, {1.25, 1.5}, {1.5, 1.5}}) {
    Values values = ones(14, 3);
    values.dumped[4] = first;
    values.dumped[38] = last;
    for (const std::size_t k : {1U, 2U, 7U})
      check(told(values, cut_in(k, 14, 3)), by_loops(values));
  }
}

TEST_CASE("a place that is not finite on one side is the worst, and the first of them") {
  struct Row {
    double expected, dumped;
    bool mismatch;
  };
  const Row rows[] = {{kNaN, kNaN, false},
                      {kNaN, 1, true},
                      {1, kNaN, true},
                      {kInfinite, kInfinite, false},
                      {kInfinite, -kInfinite, true},
                      {1, kInfinite, true},
                      {1e39, kInfinite, false},
                      {-1e39, -kInfinite, false},
                      {-1e39, kInfinite, true},
                      {1e39, -kInfinite, true},
                      {kInfinite, 1e38, true}};
  for (const Row& row : rows) {
    for (const std::size_t at : {0U, 20U, 41U}) {
      for (const std::size_t k : {1U, 2U, 3U, 7U}) {
        Values values = ones(14, 3);
        values.expected[at] = row.expected;
        values.dumped[at] = row.dumped;
        const Mismatch found = told(values, cut_in(k, 14, 3));
        CAPTURE(row.expected);
        CAPTURE(row.dumped);
        CAPTURE(at);
        CHECK(found.worst() == (row.mismatch ? static_cast<std::int64_t>(at) : -1));
        CHECK(found.worst_share() == found.worst());
        CHECK(found.outlier() == (row.mismatch ? kInfinite : 0));
        CHECK(found.share() == found.outlier());
        CHECK(found.count() == 42);
      }
    }
  }
  Values values = ones(14, 3);
  values.dumped[30] = values.dumped[11] = kNaN;
  CHECK(told(values, cut_in(7, 14, 3)).worst() == 11);
  CHECK(told(values, cut_in(1, 14, 3)).worst() == 11);
}

TEST_CASE("what overflows to infinity in a narrower dtype is no mismatch") {
  Values values = ones(1, 4);
  values.expected[2] = 70000;
  values.dumped[2] = kInfinite;
  CHECK(told(values, {0, 4}, DType::f16).outlier() == 0);
  CHECK(told(values, {0, 4}, DType::f32).outlier() == kInfinite);
  values.expected[2] = kInfinite;
  values.dumped[2] = 127;  // the largest of its type, which is no infinity
  CHECK(told(values, {0, 4}, DType::i8).worst() == 2);
}

TEST_CASE("against zeros alone every error is infinite") {
  Values values = ones(4, 2);
  std::ranges::fill(values.expected, 0);
  std::ranges::fill(values.dumped, 0);
  CHECK(told(values, {0, 8}).rel() == 0);
  CHECK(told(values, {0, 8}).row() == 0);
  CHECK(told(values, {0, 8}).worst() == -1);
  values.dumped[5] = 1e-30;
  for (const std::size_t k : {1U, 2U, 4U}) check(told(values, cut_in(k, 4, 2)), by_loops(values));
  CHECK(told(values, {0, 8}).outlier() == kInfinite);
}

TEST_CASE("an element beside much larger ones is held to its own size by share alone") {
  Values values = ones(2, 8);
  values.expected[3] = values.dumped[3] = 1000;
  values.expected[9] = 2;
  values.dumped[9] = 3;  // half of itself, a 250th of the rms
  const Mismatch found = told(values, {0, 8, 16});
  check(found, by_loops(values));
  CHECK(found.share() == doctest::Approx(0.5));
  CHECK(found.outlier() < 0.005);
}

TEST_CASE("an element below a 1,024th of the rms is held to that") {
  Values values{4, {1024, 1024, 1024, 0.25}, {1024, 1024, 1024, 0.75}};
  const Mismatch found = told(values, {0, 4});
  check(found, by_loops(values));
  CHECK(found.share() == doctest::Approx(0.5 / std::sqrt(0.75)).epsilon(1e-6));
}

TEST_CASE("sizes of neighbouring powers of two are told apart, from 2^-64 to 2^63") {
  for (const int low : {-64, -1, 62}) {
    CAPTURE(low);
    const double size = std::ldexp(1.0, low);
    // The second is further off, by less of its size.
    Values values{1, {size, 2 * size}, {1.5 * size, 2.75 * size}};
    for (const std::size_t k : {1U, 2U}) {
      const Mismatch found = told(values, cut_in(k, 2, 1));
      CHECK(found.share() == 0.5);
      CHECK(found.worst_share() == 0);
      CHECK(found.outlier() == doctest::Approx(0.375));  // the rms lies between the two
    }
  }
}

TEST_CASE("where squares of what is expected are more than a double holds nothing is told") {
  CHECK(told({1, {1, 1e150}, {1, 1e160}}, {0, 2}).measured());
  CHECK(told({1, {1, 1e150}, {1, 1e160}}, {0, 2}).rel() == kInfinite);
  CHECK_FALSE(told({1, {1, 1e160}, {1, 1.5e160}}, {0, 2}).measured());
  CHECK_FALSE(told({1, {1, 1e160}, {1, 1e160}}, {0, 2}).measured());
}

TEST_CASE("sizes from the smallest to the largest are told apart") {
  for (const double size : {1e-300, 1e-30, 1e-3, 1e3, 1e30, 1e150}) {
    Values values = ones(3, 2);
    for (std::size_t i = 0; i < 6; ++i) values.expected[i] = values.dumped[i] = size;
    values.dumped[4] = size * 1.125;
    CAPTURE(size);
    const Mismatch found = told(values, {0, 2, 6});
    CHECK(found.outlier() == doctest::Approx(0.125));
    CHECK(found.worst() == 4);
    if (size > 1e-100) CHECK(found.rel() == doctest::Approx(0.125 / std::sqrt(6.0)));
  }
}

}  // namespace
}  // namespace ttcheck::recompute
