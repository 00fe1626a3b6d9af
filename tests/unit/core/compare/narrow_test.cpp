// SPDX-License-Identifier: Apache-2.0
#include "core/compare/narrow.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/compare/measure.hpp"
#include "tests/support/stored_values.hpp"
#include "tests/support/wide_sums.hpp"

// Held to the fp64 way of the same block, which has its own test.

namespace ttcheck::compare {
namespace {

using tests::stored_values;

using Doubles = std::vector<double>;
using Bytes = std::vector<std::byte>;

constexpr std::int64_t kBase = 6144;  ///< logical index of the first element of every block here

struct Sides {
  Doubles a, b;
};

/// `count` numbers of size 2^exponent up to 2^(exponent + 1), of either sign; b is a x (1 +-
/// 2^-apart). Without `apart` both are the same.
Sides numbers(int exponent, std::optional<int> apart, int count) {
  std::mt19937 random(static_cast<std::uint32_t>(exponent + 1000));
  Sides sides;
  for (int i = 0; i < count; ++i) {
    const double size = 1 + static_cast<double>(random() % 1000) / 1000;
    const double a = std::ldexp(random() % 2 == 0 ? size : -size, exponent);
    const double step = apart ? std::ldexp(random() % 2 == 0 ? 1.0 : -1.0, -*apart) : 0;
    sides.a.push_back(a);
    sides.b.push_back(a * (1 + step));
  }
  return sides;
}

Metrics by_wide(const Rule& rule, const Bytes& a, const Bytes& b, int count) {
  Metrics metrics;
  tests::add_wide(rule, a, b, count, kBase, metrics);
  return metrics;
}

bool near(double found, double expected) {
  return found == expected || std::fabs(found - expected) <= 1e-6 * std::fabs(expected);
}

/// Nothing where both tell the same, up to what fp32 loses; else what differs.
std::string difference(const Metrics& found, const Metrics& expected) {
  if (found.unequal_bits != expected.unequal_bits) return "unequal_bits";
  if (found.unequal_values != expected.unequal_values) return "unequal_values";
  if (found.taken_out != expected.taken_out) return "taken_out";
  if (found.reference != expected.reference) return "reference";
  if (found.candidate != expected.candidate) return "candidate";
  if (found.non_finite_disagree != expected.non_finite_disagree) return "non_finite_disagree";
  if (found.non_finite_index != expected.non_finite_index) return "non_finite_index";
  if (!near(found.sum_d2, expected.sum_d2)) return "sum_d2";
  if (!near(found.sum_a2, expected.sum_a2)) return "sum_a2";
  if (!near(found.sum_b2, expected.sum_b2)) return "sum_b2";
  if (!near(found.max_block_d2, expected.max_block_d2)) return "max_block_d2";
  if (!near(found.max_abs, expected.max_abs)) return "max_abs";
  if (!near(found.max_rel, expected.max_rel)) return "max_rel";
  if ((found.max_abs_index < 0) != (expected.max_abs_index < 0)) return "max_abs_index";
  if ((found.max_rel_index < 0) != (expected.max_rel_index < 0)) return "max_rel_index";
  return "";
}

Metrics by_narrow(const Rule& rule, const Bytes& a, const Bytes& b, int count) {
  const auto scratch = make_scratch();
  Metrics metrics;
  Narrow(rule, *scratch, metrics).block(a.data(), b.data(), kBase, count);
  return metrics;
}

TEST_CASE("numbers of every size, and differences of every size, lose nothing") {
  int wrong = 0;
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Rule rule = rule_for(dtype, dtype, false);
    for (int exponent = -149; exponent <= 127; ++exponent) {
      for (const std::optional<int> apart :
           {std::optional<int>(), std::optional(-1), std::optional(3), std::optional(7),
            std::optional(19)}) {
        for (const int count : {kBlock, 3}) {
          const Sides sides = numbers(exponent, apart, count);
          const Bytes a = stored_values(dtype, sides.a);
          const Bytes b = stored_values(dtype, sides.b);
          const std::string off =
              difference(by_narrow(rule, a, b, count), by_wide(rule, a, b, count));
          if (off.empty()) continue;
          INFO(name(dtype) << ", 2^" << exponent << ", apart 2^-" << apart.value_or(999) << ", "
                           << count);
          FAIL_CHECK(off);
          ++wrong;
        }
      }
    }
  }
  CHECK(wrong == 0);
}

/// Blocks of each way that they go.
std::vector<std::pair<std::string, Sides>> kinds() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<std::pair<std::string, Sides>> all = {
      {"ordinary", numbers(0, 5, kBlock)},         {"equal", numbers(0, {}, kBlock)},
      {"tiny", numbers(-70, 5, kBlock)},           {"tiny and equal", numbers(-70, {}, kBlock)},
      {"smallest", numbers(-133, 4, kBlock)},      {"huge", numbers(100, 5, kBlock)},
      {"huge and equal", numbers(100, {}, kBlock)}};
  const Sides ordinary = all[0].second;
  const Sides equal = all[1].second;
  const Doubles zeros(kBlock, 0);
  all.emplace_back("zeros", Sides{zeros, zeros});
  all.emplace_back("zero reference", Sides{zeros, ordinary.b});
  all.emplace_back("zero candidate", Sides{ordinary.a, zeros});
  all.emplace_back("tiny candidate", Sides{ordinary.a, all[2].second.b});
  all.emplace_back("huge candidate", Sides{all[2].second.a, all[5].second.b});
  all.emplace_back("all NaN", Sides{Doubles(kBlock, std::nan("")), Doubles(kBlock, std::nan(""))});
  all.emplace_back("NaN beside numbers", Sides{Doubles(kBlock, std::nan("")), ordinary.b});
  for (const auto& [what, sides] : {std::pair{"ordinary", ordinary}, std::pair{"equal", equal},
                                    std::pair{"tiny", all[2].second}}) {
    Sides holed = sides;
    for (std::size_t i = 5; i < kBlock; i += 100) holed.a[i] = holed.b[i] = std::nan("");
    holed.a[9] = holed.b[9] = kInfinity;
    holed.a[10] = holed.b[10] = -kInfinity;
    all.emplace_back(what + std::string(" with NaN"), holed);
    holed.b[11] = kInfinity;
    holed.a[12] = std::nan("");
    holed.b[9] = -kInfinity;
    all.emplace_back(what + std::string(" with NaN on one side"), holed);
  }
  Sides mixed = ordinary;
  for (std::size_t i = 0; i < kBlock; i += 2) {
    mixed.a[i] = std::ldexp(mixed.a[i], i % 4 == 0 ? 80 : -100);
    mixed.b[i] = std::ldexp(mixed.b[i], i % 4 == 0 ? 80 : -100);
  }
  all.emplace_back("large and small ones together", mixed);
  return all;
}

/// A block of a rule that is not for fp32, as it is measured beside others, without what only a
/// whole tensor has.
Metrics by_measure(const Rule& rule, Bytes a, Bytes b) {
  const auto count = static_cast<std::int64_t>(a.size()) * 8 / bits(rule.a);
  const auto scratch = make_scratch();
  Metrics found = measure(rule, kBase, count, a, b, {}, *scratch);
  const Metrics none;
  found.count = none.count;
  found.reference_constant = none.reference_constant;
  found.constant_bits = none.constant_bits;
  return found;
}

TEST_CASE("whatever the block before was, the bits are those of the block alone") {
  const auto all = kinds();
  for (const auto& [dtype_a, dtype_b] :
       std::vector<std::pair<DType, DType>>{{DType::f32, DType::f32},
                                            {DType::bf16, DType::bf16},
                                            {DType::f32, DType::bf16},
                                            {DType::f16, DType::f16},
                                            {DType::f8_e5m2, DType::f8_e5m2},
                                            {DType::f8_e8m0, DType::f8_e8m0}}) {
    const Rule rule = rule_for(dtype_a, dtype_b, false);
    std::vector<Bytes> a, b;
    std::vector<Metrics> alone;
    for (const auto& [what, sides] : all) {
      a.push_back(stored_values(dtype_a, sides.a));
      b.push_back(stored_values(dtype_b, sides.b));
      alone.push_back(by_narrow(rule, a.back(), b.back(), kBlock));
      INFO(name(dtype_a) << " and " << name(dtype_b) << ": " << what);
      CHECK(difference(alone.back(), by_wide(rule, a.back(), b.back(), kBlock)) == "");
    }
    const auto scratch = make_scratch();
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = 0; j < all.size(); ++j) {
        INFO(name(dtype_a) << ": " << all[i].first << ", then " << all[j].first);
        Metrics metrics;
        Narrow narrow(rule, *scratch, metrics);
        narrow.block(a[i].data(), b[i].data(), kBase, kBlock);
        metrics = {};
        narrow.block(a[j].data(), b[j].data(), kBase, kBlock);
        Metrics expected = alone[j];
        if (expected.max_rel <= alone[i].max_rel * (1 + 1e-6)) {  // kept only where it is larger
          expected.max_rel = metrics.max_rel;
          expected.max_rel_index = metrics.max_rel_index;
        }
        CHECK(metrics == expected);
      }
    }
  }
}

TEST_CASE("bits are counted by what is stored, values by what it means") {
  struct Row {
    const char* what;
    DType a, b;
    std::vector<std::uint32_t> codes_a, codes_b;
    std::int64_t bits, values, nan_a, nan_b;
  };
  using enum DType;
  for (const Row& row : std::vector<Row>{
           {"zeros", f32, f32, {0x80000000, 0}, {0, 0}, 1, 0, 0, 0},
           {"payloads", f32, f32, {0x7fc00000, 0x7f800001}, {0x7fc00001, 0x7fc00001}, 2, 0, 2, 2},
           {"one payload", f32, f32, {0x7fc00000}, {0x7fc00000}, 0, 0, 1, 1},
           {"zeros beside a NaN", f32, f32, {0x7fc00000, 0}, {0x7fc00000, 0x80000000}, 1, 0, 1, 1},
           {"payloads", bf16, bf16, {0x7fc0, 0x8000}, {0x7fc1, 0}, 2, 0, 1, 1},
           {"zeros", f16, f16, {0x8000, 0}, {0, 0x8000}, 2, 0, 0, 0},
           {"payloads", f16, f16, {0x7e00, 0x7e00}, {0x7e01, 0x7e00}, 1, 0, 2, 2},
           {"signalling and quiet", f16, f16, {0x7c01, 0x8000}, {0x7e01, 0}, 2, 0, 1, 1},
           {"signs of NaN", f8_e4m3fn, f8_e4m3fn, {0x7f, 0x80}, {0xff, 0x00}, 2, 0, 1, 1},
           {"payloads", f8_e5m2, f8_e5m2, {0x7d, 0x7e}, {0x7f, 0x7e}, 1, 0, 2, 2},
           {"NaN in one", f8_e5m2, f8_e5m2, {0x7d, 0x3c}, {0x3c, 0x3c}, 1, 1, 1, 0},
           {"the only NaN", f8_e4m3fnuz, f8_e4m3fnuz, {0x80, 0x01}, {0x80, 0x00}, 1, 1, 1, 1},
           {"the only NaN", f8_e8m0, f8_e8m0, {0xff, 0x7f}, {0xff, 0x7e}, 1, 1, 1, 1},
           {"truth", boolean, boolean, {1, 2, 0, 0}, {2, 2, 1, 0}, 2, 1, 0, 0},
           {"truth and a number", boolean, u8, {2, 1}, {1, 2}, 1, 1, 0, 0},
           {"zero and less", f4_e2m1, f4_e2m1, {0x8, 0x7, 0x1}, {0x0, 0x7, 0x2}, 2, 1, 0, 0},
           {"NaN of another dtype", f16, bf16, {0x7e01, 0x3c00}, {0x7fc0, 0x3f80}, 0, 0, 1, 1},
           {"zeros of another dtype", f16, bf16, {0x7e01, 0x8000}, {0x7fc0, 0x0000}, 1, 0, 1, 1},
           {"NaN and a number", f32, bf16, {0x7fc00000, 0}, {0x3f80, 0x7fc0}, 2, 2, 1, 1},
           {"integers", i16, i16, {0xffff, 5}, {0x0001, 5}, 1, 1, 0, 0}}) {
    const auto put = [](DType dtype, std::uint32_t code, Bytes& bytes) {
      const std::size_t width = bits(dtype) < 8 ? 1 : static_cast<std::size_t>(bits(dtype)) / 8;
      bytes.resize(bytes.size() + width);
      std::memcpy(bytes.data() + bytes.size() - width, &code, width);
    };
    for (const std::size_t count : {row.codes_a.size(), std::size_t{17}, std::size_t{kBlock}}) {
      for (const bool at_end : {false, true}) {
        INFO(name(row.a) << ", " << row.what << ", " << count << ", at its end: " << at_end);
        const std::size_t lead = at_end ? count - row.codes_a.size() : 0;
        Bytes a, b;
        for (std::size_t i = 0; i < count; ++i) {
          const bool here = i >= lead && i - lead < row.codes_a.size();
          put(row.a, here ? row.codes_a[i - lead] : static_cast<std::uint32_t>(code_of(row.a, 1)),
              a);
          put(row.b, here ? row.codes_b[i - lead] : static_cast<std::uint32_t>(code_of(row.b, 1)),
              b);
        }
        const Rule rule = rule_for(row.a, row.b, false);
        const Metrics found =
            rule.wide ? by_measure(rule, a, b) : by_narrow(rule, a, b, static_cast<int>(count));
        CHECK(found.unequal_bits == row.bits);
        CHECK(found.unequal_values == row.values);
        CHECK(found.reference.nan == row.nan_a);
        CHECK(found.candidate.nan == row.nan_b);
        CHECK(difference(found, by_wide(rule, a, b, static_cast<int>(count))) == "");
      }
    }
  }
}

TEST_CASE("maxima stand at the first element that has them, of numbers of any size") {
  for (const int exponent : {-140, -100, -62, -40, 0, 40, 62, 100, 126}) {
    const auto two = [&](double value) { return std::ldexp(value, exponent); };
    Doubles a(kBlock, two(1));
    Doubles b = a;
    b[100] = b[300] = two(0.5);  // |d| 0.5, rel 0.5
    a[700] = a[900] = b[900] = two(1.5);
    b[700] = two(0.75);  // |d| 0.75, rel 0.5
    a[1000] = two(-0.25);
    b[1000] = two(0.25);  // |d| 0.5, rel 2
    a[1001] = two(0.25);
    b[1001] = two(-0.25);
    b[1500] = two(0.25);  // |d| 0.75 again
    const Rule rule = rule_for(DType::f32, DType::f32, false);
    const Bytes bytes_a = stored_values(DType::f32, a);
    const Bytes bytes_b = stored_values(DType::f32, b);
    INFO("2^" << exponent);
    const auto scratch = make_scratch();
    Metrics metrics;
    Narrow narrow(rule, *scratch, metrics);
    narrow.block(bytes_a.data(), bytes_b.data(), kBase, kBlock);
    CHECK(metrics.max_abs == two(0.75));
    CHECK(metrics.max_abs_index == kBase + 700);
    CHECK(metrics.max_rel == 2);
    CHECK(metrics.max_rel_index == kBase + 1000);
    CHECK(metrics.unequal_values == 6);
    narrow.block(bytes_a.data(), bytes_b.data(), kBase + kBlock, kBlock);  // no larger ones
    CHECK(metrics.max_abs_index == kBase + 700);
    CHECK(metrics.max_rel_index == kBase + 1000);
    CHECK(metrics.unequal_values == 12);
    CHECK(near(metrics.sum_d2, two(1) * two(1) * 2 * (4 * 0.25 + 2 * 0.5625)));
  }
}

TEST_CASE("the first disagreement of all blocks is kept") {
  const Rule rule = rule_for(DType::f32, DType::f32, false);
  Doubles a(kBlock, 1);
  Doubles b = a;
  a[3] = b[3] = std::nan("");
  b[7] = a[9] = std::nan("");
  const Bytes bytes_a = stored_values(DType::f32, a);
  const Bytes bytes_b = stored_values(DType::f32, b);
  const auto scratch = make_scratch();
  Metrics metrics;
  Narrow narrow(rule, *scratch, metrics);
  narrow.block(bytes_a.data(), bytes_a.data(), kBase, kBlock);
  CHECK(metrics.non_finite_index == -1);
  narrow.block(bytes_a.data(), bytes_b.data(), kBase + kBlock, kBlock);
  CHECK(metrics.non_finite_index == kBase + kBlock + 7);
  narrow.block(bytes_a.data(), bytes_b.data(), kBase + 2 * kBlock, kBlock);
  CHECK(metrics.non_finite_index == kBase + kBlock + 7);
  CHECK(metrics.non_finite_disagree == 4);
  CHECK(metrics.reference.nan == 6);
  CHECK(metrics.taken_out == 8);
  CHECK(metrics.beyond_close == 4);
}

TEST_CASE("tolerances hold for numbers of any size") {
  for (int exponent = -112; exponent <= 110; ++exponent) {
    // Allowed: 2^-10 of 1 and 2^-12, which are ten units of 2^-13.
    Rule rule = rule_for(DType::f32, DType::f32, false);
    rule.close_rtol = 0x1p-10;
    rule.close_atol = std::ldexp(1.0, exponent - 12);
    for (const int units : {9, 11, -9, -11}) {
      Doubles a(kBlock, std::ldexp(1.0, exponent));
      Doubles b = a;
      for (const std::size_t i : {0U, 77U, 2047U}) b[i] += std::ldexp(units, exponent - 13);
      INFO("2^" << exponent << ", " << units);
      const Metrics found =
          by_narrow(rule, stored_values(DType::f32, a), stored_values(DType::f32, b), kBlock);
      CHECK(found.beyond_close == (std::abs(units) > 10 ? 3 : 0));
    }
  }
}

}  // namespace
}  // namespace ttcheck::compare
