// SPDX-License-Identifier: Apache-2.0
#include "core/compare/wide.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "tests/support/stored_values.hpp"
#include "tests/support/wide_sums.hpp"

namespace ttcheck::compare {
namespace {

using tests::stored_values;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");
constexpr std::int64_t kBase = 4096;  ///< logical index of the first element of every block here

using Doubles = std::vector<double>;

Metrics measured(DType a, DType b, const Doubles& values_a, const Doubles& values_b) {
  const auto count = static_cast<int>(values_a.size()) / (is_complex(a) ? 2 : 1);
  Metrics metrics;
  tests::add_wide(rule_for(a, b, true), stored_values(a, values_a, true),
                  stored_values(b, values_b, true), count, kBase, metrics);
  return metrics;
}

TEST_CASE("counts, maxima and sums of small blocks") {
  struct Row {
    const char* what;
    DType a, b;
    Doubles values_a, values_b;
    Metrics expected;
  };
  using enum DType;
  constexpr double kTenth = static_cast<double>(0.1F);
  for (const Row& row : std::vector<Row>{
           {"equal", f32, f32, {1, -2}, {1, -2}, {.sum_a2 = 5, .sum_b2 = 5}},
           {"one differs",
            f32,
            f32,
            {1, -2, 3},
            {1, -2.5, 3},
            {.unequal_bits = 1,
             .unequal_values = 1,
             .beyond_close = 1,
             .max_abs = 0.5,
             .max_abs_index = kBase + 1,
             .max_rel = 0.2,
             .max_rel_index = kBase + 1,
             .sum_d2 = 0.25,
             .sum_a2 = 14,
             .sum_b2 = 16.25,
             .max_block_d2 = 0.25}},
           {"zeros of both signs", f64, f64, {-0.0, 0, 0}, {0, -0.0, 0}, {.unequal_bits = 2}},
           {"of another dtype, too", f32, f64, {-0.0, 0}, {0, 0}, {.unequal_bits = 1}},
           {"the first of equal differences",
            f64,
            f64,
            {0, 0, 0},
            {1, -1, 1},
            {.unequal_bits = 3,
             .unequal_values = 3,
             .beyond_close = 3,
             .max_abs = 1,
             .max_abs_index = kBase,
             .max_rel = 1,
             .max_rel_index = kBase,
             .sum_d2 = 3,
             .sum_b2 = 3,
             .max_block_d2 = 3}},
           {"the largest difference is not the largest relative one",
            f64,
            f64,
            {100, 1, -4},
            {102, 2, -3},
            {.unequal_bits = 3,
             .unequal_values = 3,
             .beyond_close = 3,
             .max_abs = 2,
             .max_abs_index = kBase,
             .max_rel = 0.5,
             .max_rel_index = kBase + 1,
             .sum_d2 = 6,
             .sum_a2 = 10017,
             .sum_b2 = 10417,
             .max_block_d2 = 6}},
           {"what is not finite, on one side or both",
            f32,
            f32,
            {kNan, 1, kInfinity, kInfinity, -kInfinity, 2, kNan, -kInfinity},
            {1, kNan, -kInfinity, kInfinity, -kInfinity, 2, kNan, 9},
            {.unequal_bits = 4,
             .unequal_values = 4,
             .beyond_close = 4,
             .sum_a2 = 4,
             .sum_b2 = 4,
             .taken_out = 7,
             .reference = {2, 2, 2},
             .candidate = {2, 1, 2},
             .non_finite_disagree = 4,
             .non_finite_index = kBase}},
           {"NaN of another dtype is equal",
            f16,
            bf16,
            {1, kNan},
            {1, kNan},
            {.sum_a2 = 1,
             .sum_b2 = 1,
             .taken_out = 1,
             .reference = {1, 0, 0},
             .candidate = {1, 0, 0}}},
           {"widened, not rounded",
            f16,
            f32,
            {0.0999755859375},
            {kTenth},
            {.unequal_bits = 1,
             .unequal_values = 1,
             .max_abs = kTenth - 0.0999755859375,
             .max_abs_index = kBase,
             .max_rel = (kTenth - 0.0999755859375) / kTenth,
             .max_rel_index = kBase,
             .sum_d2 = (kTenth - 0.0999755859375) * (kTenth - 0.0999755859375),
             .sum_a2 = 0.0999755859375 * 0.0999755859375,
             .sum_b2 = kTenth * kTenth,
             .max_block_d2 = (kTenth - 0.0999755859375) * (kTenth - 0.0999755859375)}},
           {"truth values are exact",
            boolean,
            boolean,
            {1, 0, 1},
            {1, 1, 1},
            {.unequal_bits = 1,
             .unequal_values = 1,
             .beyond_close = 1,
             .max_abs = 1,
             .max_abs_index = kBase + 1,
             .max_rel = 1,
             .max_rel_index = kBase + 1,
             .sum_d2 = 1,
             .sum_a2 = 2,
             .sum_b2 = 3,
             .max_block_d2 = 1}},
           {"packed codes",
            f4_e2m1,
            f4_e2m1,
            {0.5, -6},
            {0.5, -4},
            {.unequal_bits = 1,
             .unequal_values = 1,
             .beyond_close = 1,
             .max_abs = 2,
             .max_abs_index = kBase + 1,
             .max_rel = 2.0 / 6,
             .max_rel_index = kBase + 1,
             .sum_d2 = 4,
             .sum_a2 = 36.25,
             .sum_b2 = 16.25,
             .max_block_d2 = 4}},
           {"complex numbers by their moduli, differences by their parts",
            c64,
            c64,
            {3, 4, 3, 4},
            {3, 4, 3, -4},
            {.unequal_bits = 1,
             .unequal_values = 1,
             .beyond_close = 1,
             .max_abs = 8,
             .max_abs_index = kBase + 1,
             .max_rel = 1.6,
             .max_rel_index = kBase + 1,
             .sum_d2 = 64,
             .sum_a2 = 50,
             .sum_b2 = 50,
             .max_block_d2 = 64}},
           {"complex parts of another width",
            c64,
            c128,
            {3, 4, 0, -0.0},
            {0, 0, 0, 0},
            {.unequal_bits = 2,
             .unequal_values = 1,
             .beyond_close = 1,
             .max_abs = 5,
             .max_abs_index = kBase,
             .max_rel = 1,
             .max_rel_index = kBase,
             .sum_d2 = 25,
             .sum_a2 = 25,
             .max_block_d2 = 25}},
           {"complex parts that are not finite: NaN counts before infinity",
            c128,
            c128,
            {kNan, 1, kInfinity, kNan, 1, -kInfinity, kInfinity, -kInfinity, 2, 0},
            {kNan, 2, kInfinity, kNan, 1, kInfinity, kInfinity, -kInfinity, kNan, kInfinity},
            {.unequal_bits = 3,
             .unequal_values = 3,
             .beyond_close = 2,
             .taken_out = 5,
             .reference = {2, 1, 1},
             .candidate = {3, 2, 0},
             .non_finite_disagree = 2,
             .non_finite_index = kBase + 2}}}) {
    INFO(row.what);
    CHECK(measured(row.a, row.b, row.values_a, row.values_b) == row.expected);
  }
}

TEST_CASE("bits are those that are stored, where both sides have one dtype") {
  const auto unequal = [](DType dtype, const std::vector<std::uint8_t>& a,
                          const std::vector<std::uint8_t>& b) {
    Metrics metrics;
    std::vector<std::byte> bytes_a(a.size()), bytes_b(b.size());
    std::memcpy(bytes_a.data(), a.data(), a.size());
    std::memcpy(bytes_b.data(), b.data(), b.size());
    tests::add_wide(rule_for(dtype, dtype, true), bytes_a, bytes_b,
                    8 * static_cast<int>(a.size()) / bits(dtype), kBase, metrics);
    return std::pair{metrics.unequal_bits, metrics.unequal_values};
  };
  CHECK(unequal(DType::f16, {0x00, 0x7e, 0x01, 0x7e}, {0x00, 0x7e, 0x02, 0x7e}) ==
        std::pair<std::int64_t, std::int64_t>{1, 0});  // payloads of NaN
  CHECK(unequal(DType::boolean, {1, 2, 0}, {2, 2, 1}) ==
        std::pair<std::int64_t, std::int64_t>{2, 1});  // 1 and 2 are both true
  CHECK(unequal(DType::f8_e4m3fn, {0x7f, 0x38}, {0xff, 0x38}) ==
        std::pair<std::int64_t, std::int64_t>{1, 0});
}

TEST_CASE("64-bit integers are compared exactly, with each other and with floats") {
  struct Row {
    DType a;
    std::uint64_t code_a;
    DType b;
    std::uint64_t code_b;
    bool unequal;
    double d;
  };
  const auto real = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  using enum DType;
  for (const Row& row : std::vector<Row>{{i64, 7, i64, 7, false, 0},
                                         {i64, kExact, i64, kExact + 1, true, 1},
                                         {i64, kExact + 1, i64, kExact, true, 1},
                                         {i64, kAll, i64, 1, true, 2},
                                         {i64, kTop, i64, kTop - 1, true, 0x1p64},
                                         {u64, kTop, u64, kTop + 1, true, 1},
                                         {u64, 0, u64, kAll, true, 0x1p64},
                                         {u64, kAll, i64, kAll, true, 0x1p64},
                                         {i64, kTop, u64, kTop, true, 0x1p64},
                                         {i64, 5, u64, 5, false, 0},
                                         {i64, kAll, u8, 1, true, 2},
                                         {u8, 200, i64, 200, false, 0},
                                         {u8, 200, u64, 100, true, 100},
                                         {i64, kExact + 1, f64, real(0x1p53), true, 0},
                                         {i64, kExact, f64, real(0x1p53), false, 0},
                                         {f64, real(0x1p53), u64, kExact + 1, true, 0},
                                         {f64, real(0.5), i64, 0, true, 0.5},
                                         {f64, real(-0.5), i64, 0, true, 0.5},
                                         {f64, real(1e30), u64, 0, true, 1e30},
                                         {f64, real(0x1p64), u64, kAll, true, 0},
                                         {f64, real(0x1p63), u64, kTop, false, 0},
                                         {f64, real(-0x1p63), i64, kTop, false, 0},
                                         {f64, real(-0.0), i64, 0, false, 0}}) {
    INFO(name(row.a) << " " << row.code_a << " and " << name(row.b) << " " << row.code_b);
    std::vector<std::byte> a(8), b(8);
    std::memcpy(a.data(), &row.code_a, 8);
    std::memcpy(b.data(), &row.code_b, 8);
    Metrics metrics;
    tests::add_wide(rule_for(row.a, row.b, false), a, b, 1, kBase, metrics);
    CHECK(metrics.unequal_values == (row.unequal ? 1 : 0));
    CHECK(metrics.unequal_bits == metrics.unequal_values);
    CHECK(metrics.max_abs == row.d);
    CHECK(metrics.max_abs_index == (row.d > 0 ? kBase : -1));
  }
}

TEST_CASE("an integer beside what is not finite is unequal, and disagrees") {
  const Metrics found = measured(DType::f64, DType::i64, {kNan, kInfinity, 3}, {0, 0, 3});
  CHECK(found.unequal_values == 2);
  CHECK(found.non_finite_disagree == 2);
  CHECK(found.reference == NonFinite{1, 1, 0});
  CHECK(found.taken_out == 2);
  CHECK(found.sum_a2 == 9);
}

}  // namespace
}  // namespace ttcheck::compare
