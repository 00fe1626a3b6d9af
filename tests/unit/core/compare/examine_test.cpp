// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <span>

#include "core/compare/compare.hpp"
#include "core/compare/ulp.hpp"
#include "core/model/decode.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/stored_values.hpp"

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;

Detail examine_pair(const Tensor& reference, const Tensor& candidate) {
  const Pair pair{&reference, &candidate, {}, {}};
  return examine(pair, compare({&pair, 1}, {})[0].metrics);
}

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
  const Detail detail = examine_pair(reference, candidate);
  CHECK(worst_row == 374);
  CHECK(detail.row == worst_row);
  CHECK(detail.row_error == doctest::Approx(worst).epsilon(1e-7));  // as good as pass 1 knows |A|
  CHECK(column == 77);
  CHECK(detail.column == column);
  CHECK(detail.outlier == doctest::Approx(outlier).epsilon(1e-7));
  REQUIRE(detail.ulp_quantiles.size() == 4);
  for (const auto& [quantile, distance] : detail.ulp_quantiles) {
    const auto rank =
        static_cast<std::size_t>(std::ceil(quantile * static_cast<double>(distances.size())));
    CHECK(distance == distances[rank - 1]);
  }
}

/// What examine() says of ULPs, from ulp_distance() and a sort.
std::vector<std::pair<double, std::uint64_t>> quantiles_of(DType a, DType b,
                                                           std::span<const std::byte> bytes_a,
                                                           std::span<const std::byte> bytes_b,
                                                           std::int64_t count) {
  const std::size_t parts = is_complex(a) ? 2 : 1;
  std::vector<double> x(parts * static_cast<std::size_t>(count));
  std::vector<double> y = x;
  to_doubles(a, bytes_a.data(), count, x.data());
  to_doubles(b, bytes_b.data(), count, y.data());
  std::vector<std::uint64_t> distances;
  for (std::size_t i = 0; i < x.size(); i += parts) {
    std::uint64_t furthest = 0;
    bool finite = true;
    for (std::size_t k = i; k < i + parts; ++k) {
      finite = finite && std::isfinite(x[k]) && std::isfinite(y[k]);
      if (!finite || x[k] == y[k]) continue;
      furthest = std::max(furthest, ulp_distance(unit_of(a, b), x[k], y[k]));
    }
    if (finite) distances.push_back(furthest);
  }
  std::ranges::sort(distances);
  std::vector<std::pair<double, std::uint64_t>> found;
  if (distances.empty()) return found;
  for (const double q : kQuantiles) {
    const double share = std::ceil(q * static_cast<double>(distances.size()));
    found.emplace_back(q, distances[static_cast<std::size_t>(share) - 1]);
  }
  return found;
}

TEST_CASE("ULP quantiles of every dtype, few and many, near and far, are those of a sort") {
  const std::vector<std::pair<DType, DType>> pairs = {{DType::f32, DType::f32},
                                                      {DType::bf16, DType::bf16},
                                                      {DType::f16, DType::f16},
                                                      {DType::f32, DType::bf16},
                                                      {DType::f16, DType::f32},
                                                      {DType::bf16, DType::f16},
                                                      {DType::f64, DType::f32},
                                                      {DType::f64, DType::f64},
                                                      {DType::f8_e4m3fn, DType::f8_e4m3fn},
                                                      {DType::f8_e5m2, DType::f8_e5m2},
                                                      {DType::f8_e4m3fnuz, DType::f8_e4m3fnuz},
                                                      {DType::f8_e5m2fnuz, DType::f8_e5m2fnuz},
                                                      {DType::f8_e8m0, DType::f8_e8m0},
                                                      {DType::f6_e2m3, DType::f6_e2m3},
                                                      {DType::f6_e3m2, DType::f6_e3m2},
                                                      {DType::f4_e2m1, DType::f4_e2m1},
                                                      {DType::f8_e4m3fn, DType::bf16},
                                                      {DType::i16, DType::i16},
                                                      {DType::i64, DType::f32},
                                                      {DType::c64, DType::c64},
                                                      {DType::c32, DType::c32},
                                                      {DType::c64, DType::c128},
                                                      {DType::c128, DType::c128}};
  std::mt19937 random(7);
  std::normal_distribution<double> draw;
  for (const auto& [a, b] : pairs) {
    // More than are kept and sorted.
    const bool also_many = a == DType::f32 || a == DType::f64 || a == DType::c64;
    for (const std::int64_t count : {1, 1000, also_many ? 132'000 : 100}) {
      for (const double noise : {1e-6, 1e-2, 1.0}) {
        const auto size = static_cast<std::size_t>(count);
        std::vector<double> values(is_complex(a) ? 2 * size : size);
        for (double& value : values) {
          value = std::ldexp(draw(random), static_cast<int>(random() % 40) - 30);
          if (count > 1 && random() % 500 == 0) value = random() % 2 == 0 ? NAN : 1e30;
        }
        const std::vector<std::byte> bytes_a = tests::stored_values(a, values);
        for (double& value : values) value += noise * value * draw(random);
        const std::vector<std::byte> bytes_b = tests::stored_values(b, values);
        const ArraySource source_a{bytes_a};
        const ArraySource source_b{bytes_b};
        const Detail detail =
            examine_pair(tensor_of(source_a, a, {count}), tensor_of(source_b, b, {count}));
        CAPTURE(name(a));
        CAPTURE(name(b));
        CAPTURE(count);
        CAPTURE(noise);
        CHECK(detail.ulp_quantiles == quantiles_of(a, b, bytes_a, bytes_b, count));
      }
    }
  }
}

TEST_CASE("the kernels count steps as ulp_distance does, from every code of 16 bits") {
  std::vector<float> a;
  for (std::uint32_t high = 0; high < 0x10000; ++high) {
    for (const std::uint32_t low : {0U, 0x7fffU, 0x8000U, 0x8001U, 0x0fffU, 0x1001U}) {
      const auto value = std::bit_cast<float>(high << 16 | low);
      if (std::isfinite(value)) a.push_back(value);
    }
  }
  std::vector<float> b(a.begin() + 1, a.end());
  b.push_back(-1.5F);
  for (std::size_t i = 0; i < b.size(); i += 3) b[i] = a[(i * 7919) % a.size()];
  for (const DType unit : {DType::f32, DType::bf16, DType::f16}) {
    const auto format = unit_format(unit, DType::f32, unit);
    REQUIRE(format);
    for (const Kernels* isa : usable_kernels()) {
      std::vector<std::uint32_t> steps(a.size());
      isa->ulps(a.data(), b.data(), static_cast<int>(a.size()), *format, steps.data());
      int wrong = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        wrong +=
            steps[i] != ulp_distance(unit, static_cast<double>(a[i]), static_cast<double>(b[i]));
      }
      CAPTURE(isa->name);
      CAPTURE(name(unit));
      CHECK(wrong == 0);
    }
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
  const Detail detail = examine_pair(reference, candidate);
  CHECK(detail.row == -1);
  CHECK(detail.column == -1);
  CHECK(detail.outlier == doctest::Approx(1.0 / 3));
  CHECK(detail.outlier_index == 2);
  CHECK(detail.ulp_quantiles.back().second == std::uint64_t{1} << 51);  // from 3 to 4
}

}  // namespace
}  // namespace ttcheck::compare
