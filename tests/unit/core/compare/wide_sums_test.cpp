// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "core/compare/wide.hpp"
#include "tests/support/stored_values.hpp"
#include "tests/support/wide_sums.hpp"

// Sums, maxima and quotients of decoded blocks.

namespace ttcheck::compare {
namespace {

using tests::stored_values;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");
constexpr std::int64_t kBase = 4096;  ///< logical index of the first element of every block here

using Doubles = std::vector<double>;

TEST_CASE("a later block raises maxima only by larger ones, and keeps the first disagreement") {
  Metrics metrics;
  metrics.max_abs = 3;
  metrics.max_abs_index = 7;
  metrics.max_rel = 0.5;
  metrics.max_rel_index = 8;
  metrics.max_block_d2 = 100;
  metrics.non_finite_index = 9;
  metrics.sum_d2 = metrics.sum_a2 = metrics.sum_b2 = 1000;
  const Rule rule = rule_for(DType::f64, DType::f64, true);
  const auto block = [&](const Doubles& a, const Doubles& b) {
    tests::add_wide(rule, stored_values(DType::f64, a), stored_values(DType::f64, b),
                    static_cast<int>(a.size()), kBase, metrics);
  };
  block({3, 1, kNan}, {6, 1, 0});
  CHECK(metrics.max_abs_index == 7);
  CHECK(metrics.max_rel_index == 8);
  CHECK(metrics.max_block_d2 == 100);
  CHECK(metrics.non_finite_index == 9);
  CHECK(metrics.sum_d2 == 1009);
  CHECK(metrics.sum_a2 == 1010);
  CHECK(metrics.sum_b2 == 1037);
  block({0, 1}, {11, 1});
  CHECK(metrics.max_abs == 11);
  CHECK(metrics.max_abs_index == kBase);
  CHECK(metrics.max_rel == 1);
  CHECK(metrics.max_rel_index == kBase);
  CHECK(metrics.max_block_d2 == 121);
}

TEST_CASE("what is within the tolerance is not beyond it") {
  struct Row {
    double a, b;
    std::int64_t beyond;
  };
  Rule rule = rule_for(DType::f64, DType::f64, true);
  rule.close_rtol = 0.25;
  rule.close_atol = 0.5;
  for (const Row& row : std::vector<Row>{{2, 3, 0},  // 0.5 + 0.25 x 2
                                         {2, 3 + 0x1p-50, 1},
                                         {-2, -3, 0},
                                         {-2, -3 - 0x1p-50, 1},
                                         {-2, -1, 0},
                                         {0, 0.5, 0},
                                         {0, 0.5 + 0x1p-50, 1},
                                         {0, -0.5 - 0x1p-50, 1},
                                         {8, 8, 0}}) {
    INFO(row.a << " and " << row.b);
    Metrics metrics;
    tests::add_wide(rule, stored_values(DType::f64, {row.a}), stored_values(DType::f64, {row.b}), 1,
                    kBase, metrics);
    CHECK(metrics.beyond_close == row.beyond);
  }
}

/// The order of sums that kernel.hpp states, in fp64: lane i mod 16, folded by halves every 512.
double sum_in_order(const double* values, int count) {
  double total = 0;
  for (int part = 0; part < count; part += 512) {
    std::array<double, 16> lanes{};
    for (int lane = 0; lane < 16; ++lane) {
      for (int i = part + lane; i < std::min(part + 512, count); i += 16)
        lanes[static_cast<std::size_t>(lane)] += values[i] * values[i];
    }
    for (std::size_t half : {8U, 4U, 2U, 1U}) {
      for (std::size_t j = 0; j < half; ++j) lanes[j] += lanes[j + half];
    }
    total += lanes[0];
  }
  return total;
}

TEST_CASE("sums are made in the order of the kernels") {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  const auto block = std::make_unique<WideBlock>();
  for (int i = 0; i < kBlock; ++i) {
    block->a[i] = normal(random);
    block->b[i] = normal(random);
    block->d[i] = std::fabs(block->b[i] - block->a[i]);
  }
  const Rule rule = rule_for(DType::f64, DType::f64, true);
  for (const int count : {1, 15, 16, 17, 33, 511, 512, 513, 1030, 2047, 2048}) {
    INFO(count);
    Metrics metrics;
    sum_block(rule, *block, count, 0, metrics);
    CHECK(metrics.sum_a2 == sum_in_order(block->a, count));
    CHECK(metrics.sum_b2 == sum_in_order(block->b, count));
    CHECK(metrics.sum_d2 == sum_in_order(block->d, count));
    double largest = 0;
    for (int part = 0; part < count; part += 512)
      largest = std::max(largest, sum_in_order(block->d + part, std::min(512, count - part)));
    CHECK(metrics.max_block_d2 == largest);
  }
}

TEST_CASE("max_quotient is over the tolerance that was given") {
  struct Row {
    std::optional<double> rtol, atol;
    Doubles a, b;
    double expected;
    std::int64_t index;
  };
  for (const Row& row :
       std::vector<Row>{{0.25, 0.5, {2, -4, 0}, {3, -5, 0}, 1, kBase},  // 1 / 1, 1 / 1.5
                        {0.25, 0.5, {-4, 2}, {-5, 3}, 1, kBase + 1},
                        {0.25, std::nullopt, {4, 8}, {5, 12}, 2, kBase + 1},  // 1 / 1, 4 / 2
                        {std::nullopt, 0.5, {4, 8}, {5, 12}, 8, kBase + 1},
                        {0.25, 0.0, {0, 8}, {1, 9}, kInfinity, kBase},  // nothing is allowed
                        {0.0, 0.0, {1, 1, 1}, {1, 2, 3}, kInfinity, kBase + 1},
                        {0.0, 0.0, {1, 0}, {1, 0}, 0, -1},
                        {1.0, 0.0, {1, 2, 4}, {2, 4, 8}, 1, kBase}}) {  // the first on ties
    Rule rule = rule_for(DType::f64, DType::f64, true);
    rule.rtol = row.rtol;
    rule.atol = row.atol;
    const auto count = static_cast<int>(row.a.size());
    const auto block = std::make_unique<WideBlock>();
    Metrics ignored;
    Metrics metrics;
    decode_block(rule, stored_values(DType::f64, row.a).data(),
                 stored_values(DType::f64, row.b).data(), count, kBase, *block, ignored);
    quotient_block(rule, *block, count, kBase, metrics);
    CHECK(metrics.max_quotient == row.expected);
    CHECK(metrics.max_quotient_index == row.index);
    Metrics more;
    more.max_quotient = row.expected;
    quotient_block(rule, *block, count, kBase, more);
    CHECK(more.max_quotient_index == -1);  // no larger one
  }
}

TEST_CASE("stored elements from a place on, packed ones as a byte each") {
  std::vector<std::byte> bytes(192);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 37);
  std::array<std::uint8_t, 64> codes{};
  CHECK(stored_at(DType::u8, bytes, 8, 4, codes.data()) == bytes.data() + 8);
  CHECK(stored_at(DType::f32, bytes, 8, 4, codes.data()) == bytes.data() + 32);
  CHECK(stored_at(DType::c128, bytes, 8, 1, codes.data()) == bytes.data() + 128);
  CHECK(codes == std::array<std::uint8_t, 64>{});
  for (const DType dtype : {DType::f4_e2m1, DType::f6_e3m2}) {
    INFO(name(dtype));
    std::array<std::uint8_t, 64> all{};
    unpack(dtype, bytes.data(), 64, all.data());
    codes.fill(0xee);
    const std::byte* found = stored_at(dtype, bytes, 16, 9, codes.data());
    CHECK(found == reinterpret_cast<const std::byte*>(codes.data()));
    CHECK(std::equal(codes.begin(), codes.begin() + 9, all.begin() + 16));
    CHECK(codes[9] == 0xee);
  }
}

}  // namespace
}  // namespace ttcheck::compare
