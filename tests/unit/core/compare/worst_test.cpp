// SPDX-License-Identifier: Apache-2.0
// Ranges folded into Worst, held to plain loops over the whole tensor: however it is cut.

#include "core/compare/worst.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace ttcheck::compare {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> a, distance;
};

Scale scale_of(const Matrix& values) {
  double a2 = 0;
  for (const double a : values.a) a2 += a * a;
  Scale scale;
  scale.last = values.columns;
  scale.columns = true;
  scale.rms = std::sqrt(a2 / static_cast<double>(values.a.size()));
  scale.rms_row = std::sqrt(a2 / static_cast<double>(values.rows));
  return scale;
}

/// What the header says, one element after the other.
Detail by_loops(const Matrix& values, const Scale& scale) {
  Detail detail;
  std::vector<double> sums(static_cast<std::size_t>(values.columns));
  for (std::int64_t r = 0; r < values.rows; ++r) {
    double d2 = 0, a2 = 0;
    for (std::int64_t c = 0; c < values.columns; ++c) {
      const auto i = static_cast<std::size_t>(r * values.columns + c);
      const double a = std::fabs(values.a[i]), d = values.distance[i];
      d2 += d * d;
      a2 += a * a;
      sums[static_cast<std::size_t>(c)] += d * d;
      const double size = std::max(a, scale.rms);
      const double outlier = d == 0 ? 0 : (size > 0 ? d / size : kInfinite);
      if (outlier > detail.outlier) {
        detail.outlier = outlier;
        detail.outlier_index = static_cast<std::int64_t>(i);
      }
    }
    const double size = std::max(std::sqrt(a2), scale.rms_row);
    const double error = d2 == 0 ? 0 : (size > 0 ? std::sqrt(d2) / size : kInfinite);
    if (error > detail.row_error) {
      detail.row_error = error;
      detail.row = r;
    }
  }
  double most = 0;
  for (std::size_t c = 0; c < sums.size(); ++c) {
    if (sums[c] > most) {
      most = sums[c];
      detail.column = static_cast<std::int64_t>(c);
    }
  }
  return detail;
}

/// Cut at these elements; each range in blocks of `block`.
Detail folded(const Matrix& values, const Scale& scale, const Kernels& isa,
              const std::vector<std::size_t>& cuts, std::size_t block) {
  Worst worst(scale);
  for (std::size_t n = 0; n + 1 < cuts.size(); ++n) {
    RangeWorst range(isa, scale);
    const auto size = static_cast<std::int64_t>(cuts[n + 1] - cuts[n]);
    for (std::size_t at = cuts[n]; at < cuts[n + 1]; at += block) {
      const std::size_t count = std::min(block, cuts[n + 1] - at);
      range.add(values.a.data() + at, values.distance.data() + at, static_cast<std::int64_t>(at),
                static_cast<int>(count), size);
    }
    worst.fold(range);
  }
  return worst.take();
}

/// Approx holds no infinity to be near another.
bool near(double a, double b) { return a == b || a == doctest::Approx(b).epsilon(1e-12); }

void check_cuts(const Matrix& values) {
  const Scale scale = scale_of(values);
  const Detail expected = by_loops(values, scale);
  const std::size_t count = values.a.size();
  for (const Kernels* isa : usable_kernels()) {
    for (const std::size_t k : {1U, 2U, 3U, 7U}) {
      std::vector<std::size_t> cuts;
      for (std::size_t n = 0; n <= k; ++n) cuts.push_back(count * n / k);
      for (const std::size_t block : {std::size_t{16}, std::size_t{2048}}) {
        CAPTURE(isa->name);
        CAPTURE(k);
        CAPTURE(block);
        const Detail detail = folded(values, scale, *isa, cuts, block);
        CHECK(detail.row == expected.row);
        CHECK(near(detail.row_error, expected.row_error));
        CHECK(detail.outlier == expected.outlier);
        CHECK(detail.outlier_index == expected.outlier_index);
        CHECK(detail.column == expected.column);
      }
    }
  }
}

Matrix drawn(std::int64_t rows, std::int64_t columns) {
  std::mt19937 random(static_cast<unsigned>(rows * 1000 + columns));
  std::normal_distribution<double> normal;
  Matrix values{rows, columns, {}, {}};
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    values.a.push_back(normal(random));
    values.distance.push_back(std::fabs(normal(random)) * 1e-3);
  }
  return values;
}

TEST_CASE("rows, columns and outliers, wherever the ranges are cut") {
  for (const auto& [rows, columns] : {std::pair{1, 1}, {1, 700}, {700, 1}, {40, 33}, {7, 100}})
    check_cuts(drawn(rows, columns));
}

/// As the second pass has them: rows and columns as stored, outliers while there may be a worse
/// one.
Detail folded_as_stored(const Matrix& values, const Scale& scale, const Kernels& isa) {
  const std::size_t count = values.a.size();
  std::vector<std::int16_t> a(count), b(count);
  for (std::size_t i = 0; i < count; ++i) {
    a[i] = static_cast<std::int16_t>(values.a[i]);
    b[i] = static_cast<std::int16_t>(values.a[i] + values.distance[i]);
  }
  Worst worst(scale);
  RangeWorst range(isa, scale);
  for (std::size_t at = 0; at < count; at += 48) {
    const auto n = static_cast<int>(std::min<std::size_t>(48, count - at));
    const auto begin = static_cast<std::int64_t>(at);
    range.add(Integers{Whole::i16, reinterpret_cast<const std::byte*>(a.data() + at),
                       reinterpret_cast<const std::byte*>(b.data() + at)},
              begin, n, static_cast<std::int64_t>(count));
    if (range.may_rise()) {
      range.add_outliers(values.a.data() + at, values.distance.data() + at, begin, n);
    }
  }
  worst.fold(range);
  return worst.take();
}

TEST_CASE("integers as they are stored have the rows, columns and outliers of their doubles") {
  for (const auto& [rows, columns] : {std::pair{1, 700}, {700, 1}, {40, 33}, {7, 100}}) {
    Matrix values = drawn(rows, columns);
    for (double& a : values.a) a = std::trunc(a * 3);
    for (double& d : values.distance) d = std::trunc(d * 2e3);
    Scale scale = scale_of(values);
    scale.most = *std::ranges::max_element(values.distance);
    for (const Kernels* isa : usable_kernels()) {
      CAPTURE(isa->name);
      CAPTURE(columns);
      const Detail expected = folded(values, scale, *isa, {0, values.a.size()}, 2048);
      const Detail detail = folded_as_stored(values, scale, *isa);
      CHECK(detail.row == expected.row);
      CHECK(detail.row_error == expected.row_error);
      CHECK(detail.column == expected.column);
      CHECK(detail.outlier == expected.outlier);
      CHECK(detail.outlier_index == expected.outlier_index);
    }
  }
}

/// Of the squares alone, as complex numbers have them.
Detail folded_by_squares(const Matrix& values, const Scale& scale, const Kernels& isa) {
  std::vector<double> a2 = values.a, d2 = values.distance;
  for (double& value : a2) value *= value;
  for (double& value : d2) value *= value;
  Worst worst(scale);
  RangeWorst range(isa, scale);
  for (std::size_t at = 0; at < a2.size(); at += 150) {
    const std::size_t n = std::min<std::size_t>(150, a2.size() - at);
    range.add_squares(a2.data() + at, d2.data() + at, static_cast<std::int64_t>(at),
                      static_cast<int>(n), static_cast<std::int64_t>(a2.size()));
  }
  worst.fold(range);
  return worst.take();
}

TEST_CASE("squares have the rows, columns and outliers of what they are squares of") {
  for (const auto& [rows, columns] : {std::pair{1, 700}, {700, 1}, {40, 33}, {7, 100}}) {
    Matrix values = drawn(rows, columns);
    Scale scale = scale_of(values);
    for (const bool bounded : {false, true}) {
      if (bounded) scale.most = *std::ranges::max_element(values.distance);
      for (const Kernels* isa : usable_kernels()) {
        CAPTURE(isa->name);
        CAPTURE(columns);
        const Detail expected = folded(values, scale, *isa, {0, values.a.size()}, 2048);
        const Detail detail = folded_by_squares(values, scale, *isa);
        CHECK(detail.row == expected.row);
        CHECK(near(detail.row_error, expected.row_error));
        CHECK(detail.column == expected.column);
        CHECK(near(detail.outlier, expected.outlier));
        CHECK(detail.outlier_index == expected.outlier_index);
      }
    }
  }
}

TEST_CASE("nothing is looked at for outliers once none can be worse") {
  const Scale scale{0, false, 2, 2, 6};
  RangeWorst range(kernels(), scale);
  CHECK(range.may_rise());
  const double a[] = {1, 5, 0}, distance[] = {2, 6, 6};
  range.add_outliers(a, distance, 0, 2);
  CHECK(range.may_rise());
  range.add_outliers(a + 2, distance + 2, 2, 1);
  CHECK_FALSE(range.may_rise());
}

TEST_CASE("one fault, in each row, each column, and at each place of a range") {
  for (std::size_t at = 0; at < 20 * 9; ++at) {
    Matrix values{20, 9, std::vector<double>(180, 1), std::vector<double>(180, 0)};
    values.distance[at] = 0.5;
    CAPTURE(at);
    const Scale scale = scale_of(values);
    for (const std::size_t cut : {1U, 50U, 90U, 179U}) {
      const Detail detail = folded(values, scale, kernels(), {0, cut, 180}, 2048);
      CHECK(detail.row == static_cast<std::int64_t>(at / 9));
      CHECK(detail.column == static_cast<std::int64_t>(at % 9));
      CHECK(detail.outlier_index == static_cast<std::int64_t>(at));
      CHECK(detail.outlier == 0.5);
      CHECK(detail.row_error == doctest::Approx(0.5 / 3));
    }
  }
}

TEST_CASE("of equal errors the first counts, of larger ones the largest, in any range") {
  Matrix values{12, 4, std::vector<double>(48, 1), std::vector<double>(48, 0)};
  for (const std::size_t at : {9U, 22U, 45U}) values.distance[at] = 0.25;
  check_cuts(values);
  values.distance[22] = 0.5;
  check_cuts(values);
  values.distance[45] = 0.75;
  check_cuts(values);
  for (const auto& [first, then] : {std::pair{0.25, 0.25}, {0.25, 0.3}, {0.3, 0.25}}) {
    for (const std::size_t at : {0U, 16U}) {  // row and column 0, too
      Matrix two{12, 4, std::vector<double>(48, 1), std::vector<double>(48, 0)};
      two.distance[at] = first;
      two.distance[at + 21] = then;
      check_cuts(two);
    }
  }
}

TEST_CASE("a row whose squares are beyond the range of doubles is named, its error is no number") {
  Matrix values{3, 4, std::vector<double>(12, 1), std::vector<double>(12, 0)};
  values.a[5] = values.distance[5] = 1e200;
  const Detail detail = folded(values, scale_of(values), kernels(), {0, 12}, 16);
  CHECK(detail.row == 1);
  CHECK(std::isnan(detail.row_error));
}

TEST_CASE("a row that three ranges share is one row") {
  Matrix values{2, 300, std::vector<double>(600, 1), std::vector<double>(600, 0)};
  for (std::size_t i = 0; i < 300; ++i) values.distance[i] = 0.01;
  values.distance[450] = 0.1;
  const Scale scale = scale_of(values);
  const Detail expected = by_loops(values, scale);
  CHECK(expected.row == 0);  // 300 small errors outweigh a larger one
  for (const auto& cuts : {std::vector<std::size_t>{0, 100, 200, 600},
                           {0, 100, 200, 300, 600},
                           {0, 1, 2, 299, 301, 600}}) {
    const Detail detail = folded(values, scale, kernels(), cuts, 16);
    CHECK(detail.row == 0);
    CHECK(near(detail.row_error, expected.row_error));
  }
}

TEST_CASE("against nothing but zeros each error is infinite, and the first one counts") {
  Matrix values{4, 64, std::vector<double>(256, 0), std::vector<double>(256, 0)};
  values.distance[70] = 1e-9;
  values.distance[200] = 5;
  check_cuts(values);
  const Detail detail = by_loops(values, scale_of(values));
  CHECK(detail.outlier == kInfinite);
  CHECK(detail.outlier_index == 70);
  CHECK(detail.row == 1);
}

TEST_CASE("a row of small numbers is held to what is usual in the tensor") {
  Matrix values{3, 8, std::vector<double>(24, 1), std::vector<double>(24, 0)};
  for (std::size_t i = 0; i < 8; ++i) values.a[i] = 1e-6;
  values.distance[2] = 1e-6;  // as large as what it stands beside, and nothing in the tensor
  values.distance[20] = 0.125;
  check_cuts(values);
}

TEST_CASE("no error anywhere, no rows, no columns: nothing is named") {
  Matrix values{4, 8, std::vector<double>(32, 1), std::vector<double>(32, 0)};
  Scale scale = scale_of(values);
  CHECK(folded(values, scale, kernels(), {0, 9, 32}, 16).row == -1);
  CHECK(folded(values, scale, kernels(), {0, 9, 32}, 16).column == -1);
  CHECK(folded(values, scale, kernels(), {0, 9, 32}, 16).outlier_index == -1);
  values.distance[5] = values.distance[30] = 1;
  scale.columns = false;
  CHECK(folded(values, scale, kernels(), {0, 9, 32}, 16).column == -1);
  scale.last = 0;
  const Detail detail = folded(values, scale, kernels(), {0, 9, 32}, 16);
  CHECK(detail.row == -1);
  CHECK(detail.row_error == 0);
  CHECK(detail.outlier_index == 5);
}

}  // namespace
}  // namespace ttcheck::compare
