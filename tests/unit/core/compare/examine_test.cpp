#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "core/compare/compare.hpp"
#include "core/compare/ulp.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;

/// Codes of one sign's floats are their bits, so the distance of equal signs is that of the bits.
std::uint64_t distance_of(float a, float b) {
  std::int32_t x;
  std::int32_t y;
  std::memcpy(&x, &a, 4);
  std::memcpy(&y, &b, 4);
  const auto line = [](std::int32_t v) {
    return v < 0 ? -static_cast<std::int64_t>(v & 0x7fffffff) : v;
  };
  return static_cast<std::uint64_t>(std::abs(line(x) - line(y)));
}

TEST_CASE("rows, columns, outliers and ULP quantiles agree with plain loops") {
  const std::int64_t rows = 1000;
  const std::int64_t columns = 700;  // rows straddle the ranges of 2^18 elements
  std::mt19937 random(5);
  std::normal_distribution<float> draw;
  std::vector<float> a(static_cast<std::size_t>(rows * columns));
  for (float& value : a) value = draw(random);
  std::vector<float> b = a;
  for (float& value : b) value += draw(random) * 1e-6F;
  for (std::int64_t c = 0; c < columns; ++c)
    b[static_cast<std::size_t>(374 * columns + c)] += 1e-3F;
  for (std::int64_t r = 0; r < rows; ++r) b[static_cast<std::size_t>(r * columns + 77)] += 1e-3F;
  a[5] = b[5] = NAN;

  std::vector<double> row_d(1000), row_a(1000), column_d(700);
  std::vector<std::uint64_t> distances;
  double a2 = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (i == 5) continue;
    const double d = static_cast<double>(b[i]) - static_cast<double>(a[i]);
    row_d[i / 700] += d * d;
    row_a[i / 700] += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    column_d[i % 700] += d * d;
    a2 += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    distances.push_back(distance_of(a[i], b[i]));
  }
  std::ranges::sort(distances);
  const auto column = std::ranges::max_element(column_d) - column_d.begin();
  const double rms = std::sqrt(a2 / static_cast<double>(distances.size()));
  double worst = 0;
  std::int64_t worst_row = -1;
  for (std::size_t r = 0; r < 1000; ++r) {
    const double error =
        std::sqrt(row_d[r]) / std::max(std::sqrt(row_a[r]), rms * std::sqrt(700.0));
    if (error > worst) {
      worst = error;
      worst_row = static_cast<std::int64_t>(r);
    }
  }
  double outlier = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (i == 5) continue;
    const double d = std::fabs(static_cast<double>(b[i]) - static_cast<double>(a[i]));
    outlier = std::max(outlier, d / std::max(std::fabs(static_cast<double>(a[i])), rms));
  }

  const ArraySource source_a = ArraySource::of(a);
  const ArraySource source_b = ArraySource::of(b);
  const Tensor reference = tensor_of(source_a, DType::f32, {rows, columns});
  const Tensor candidate = tensor_of(source_b, DType::f32, {rows, columns});
  const Detail detail = examine({&reference, &candidate, {}, {}});
  CHECK(worst_row == 374);
  CHECK(detail.row == worst_row);
  CHECK(detail.row_error == doctest::Approx(worst).epsilon(1e-12));
  CHECK(column == 77);
  CHECK(detail.column == column);
  CHECK(detail.outlier == doctest::Approx(outlier).epsilon(1e-12));
  REQUIRE(detail.ulp_quantiles.size() == 4);
  for (const auto& [quantile, distance] : detail.ulp_quantiles) {
    const auto rank =
        static_cast<std::size_t>(std::ceil(quantile * static_cast<double>(distances.size())));
    CHECK(distance == distances[rank - 1]);
  }
}

TEST_CASE("ULP distances count representable values") {
  CHECK(ulp_distance(DType::bf16, 1.0, 1.0078125) == 1);
  CHECK(ulp_distance(DType::f32, 0.0, -0.0) == 0);
  CHECK(ulp_distance(DType::f32, 0x1p-149, -0x1p-149) == 2);
  CHECK(ulp_distance(DType::f8_e4m3fn, 448, 416) == 1);
  CHECK(ulp_distance(DType::i64, 5, -7) == 12);
  CHECK(unit_of(DType::f32, DType::bf16) == DType::bf16);
  CHECK(unit_of(DType::i64, DType::f16) == DType::f16);
  CHECK(unit_of(DType::c64, DType::c64) == DType::f32);
}

TEST_CASE("tensors below two dimensions have no row and no column") {
  const ArraySource source_a = ArraySource::of(std::vector<double>{1, 2, 3});
  const ArraySource source_b = ArraySource::of(std::vector<double>{1, 2, 4});
  const Tensor reference = tensor_of(source_a, DType::f64, {3});
  const Tensor candidate = tensor_of(source_b, DType::f64, {3});
  const Detail detail = examine({&reference, &candidate, {}, {}});
  CHECK(detail.row == -1);
  CHECK(detail.column == -1);
  CHECK(detail.outlier == doctest::Approx(1.0 / 3));
  CHECK(detail.outlier_index == 2);
  CHECK(detail.ulp_quantiles.back().second == std::uint64_t{1} << 51);  // from 3 to 4
}

}  // namespace
}  // namespace ttcheck::compare
