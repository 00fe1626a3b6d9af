// SPDX-License-Identifier: Apache-2.0
// Parts of a pair measured apart and appended are the pair measured at once, whatever it holds.

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "core/compare/measure.hpp"
#include "tests/support/stored_values.hpp"

namespace ttcheck::compare {
namespace {

enum class Data { ordinary, hard, constant, ties, tiny, sentinels, late };

double special(std::mt19937& random) {
  const double values[] = {NAN, INFINITY, -INFINITY, -0.0, 1e-41, 3e38, 65504, 448, 255, -128};
  return values[random() % std::size(values)];
}

double drawn(Data data, std::mt19937& random) {
  std::normal_distribution<double> normal;
  switch (data) {
    case Data::hard:
      return random() % 200 == 0 ? special(random) : normal(random) * 40;
    case Data::constant:
      return 1;
    case Data::ties:
      return static_cast<double>(random() % 3);
    case Data::tiny:
      return normal(random) * 1e-22;
    case Data::sentinels:  // what programs store where there is no value
      return random() % 4 == 0 ? -1 : (random() % 4 == 0 ? 3.38953139e38 : normal(random));
    default:
      return normal(random) * 3;
  }
}

struct BothSides {
  std::vector<double> a, b;
};

/// The candidate is the reference but for a third of its elements; of `late` only the last differs.
BothSides values_of(Data data, std::int64_t count) {
  std::mt19937 random(static_cast<unsigned>(count) + static_cast<unsigned>(data));
  BothSides values;
  for (std::int64_t i = 0; i < count; ++i) values.a.push_back(drawn(data, random));
  values.b = values.a;
  for (double& value : values.b) {
    if (data == Data::late || random() % 3 != 0) continue;
    value = data == Data::hard && random() % 50 == 0 ? special(random) : value * 1.25 + 1;
  }
  if (data == Data::late) values.b.back() = NAN;
  return values;
}

std::vector<std::byte> stored(DType dtype, const std::vector<double>& values) {
  std::vector<double> parts;
  for (const double value : values) {
    parts.push_back(value);
    if (is_complex(dtype)) parts.push_back(value / 2);
  }
  return tests::stored_values(dtype, parts);
}

struct Case {
  Rule rule;
  std::int64_t count = 0;
  std::vector<std::byte> a, b;
  std::vector<LinearRange> left_out;

  /// Elements [begin, end); begin a multiple of kBlock, so that it begins a byte.
  Metrics measured(std::int64_t begin, std::int64_t end) const {
    const auto cut = [&](DType dtype, const std::vector<std::byte>& bytes) {
      const auto from = static_cast<std::ptrdiff_t>(byte_size(dtype, begin));
      const auto to = static_cast<std::ptrdiff_t>(byte_size(dtype, end));
      return std::vector<std::byte>(bytes.begin() + from, bytes.begin() + to);
    };
    auto part_a = cut(rule.a, a);
    auto part_b = cut(rule.b, b);
    return measure(rule, begin, end - begin, part_a, part_b, left_out, *make_scratch());
  }

  Metrics in_parts(int k) const {
    Metrics sum;
    const std::int64_t blocks = (count + kBlock - 1) / kBlock;
    for (int n = 0; n < k; ++n) {
      const std::int64_t begin = blocks * n / k * kBlock;
      const std::int64_t end = std::min(blocks * (n + 1) / k * kBlock, count);
      if (begin < end) append(sum, measured(begin, end));
    }
    return sum;
  }
};

bool near(double a, double b) { return a == b || std::fabs(a - b) <= 1e-12 * std::fabs(b); }

/// Sums of parts are added in another order; everything else is the same, to the bit.
void check_same(Metrics parts, const Metrics& whole) {
  CHECK(near(parts.sum_d2, whole.sum_d2));
  CHECK(near(parts.sum_a2, whole.sum_a2));
  CHECK(near(parts.sum_b2, whole.sum_b2));
  parts.sum_d2 = whole.sum_d2;
  parts.sum_a2 = whole.sum_a2;
  parts.sum_b2 = whole.sum_b2;
  CHECK(parts.count == whole.count);
  CHECK(parts.unequal_bits == whole.unequal_bits);
  CHECK(parts.beyond_close == whole.beyond_close);
  CHECK(parts.max_abs_index == whole.max_abs_index);
  CHECK(parts.max_rel_index == whole.max_rel_index);
  CHECK(parts.max_quotient_index == whole.max_quotient_index);
  CHECK(parts.max_block_d2 == whole.max_block_d2);
  CHECK(parts.taken_out == whole.taken_out);
  CHECK(parts.constant_bits == whole.constant_bits);
  CHECK((parts == whole));
}

void check_parts(const Case& pair) {
  const Metrics whole = pair.measured(0, pair.count);
  for (const int k : {1, 2, 3, 7}) {
    CAPTURE(k);
    check_same(pair.in_parts(k), whole);
  }
}

Case case_of(DType a, DType b, Data data, std::int64_t count) {
  const BothSides values = values_of(data, count);
  return {rule_for(a, b, false), count, stored(a, values.a), stored(b, values.b), {}};
}

constexpr Data kAllData[] = {Data::ordinary, Data::hard,      Data::constant, Data::ties,
                             Data::tiny,     Data::sentinels, Data::late};
constexpr std::int64_t kCount = 7 * kBlock - 13;  // the last block is not whole

TEST_CASE("k parts appended are one pass: each dtype, each instruction set, hard data") {
  for (const DTypeInfo& row : kDTypes) {
    for (const Data data : kAllData) {
      Case pair = case_of(row.dtype, row.dtype, data, kCount);
      CAPTURE(row.name);
      CAPTURE(static_cast<int>(data));
      for (const Kernels* isa : usable_kernels()) {
        CAPTURE(isa->name);
        pair.rule.isa = isa;
        check_parts(pair);
      }
    }
  }
}

TEST_CASE("k parts appended are one pass: two dtypes, tolerances, exact sums") {
  const std::pair<DType, DType> pairs[] = {{DType::f32, DType::bf16}, {DType::f16, DType::f32},
                                           {DType::i64, DType::f64},  {DType::f4_e2m1, DType::f32},
                                           {DType::c64, DType::c128}, {DType::u8, DType::f16}};
  for (const auto& [a, b] : pairs) {
    for (const Data data : kAllData) {
      for (const bool exact : {false, true}) {
        Case pair = case_of(a, b, data, kCount);
        pair.rule = rule_for(a, b, exact);
        pair.rule.rtol = 0.125;
        pair.rule.atol = 0.5;
        CAPTURE(name(a));
        CAPTURE(name(b));
        CAPTURE(static_cast<int>(data));
        CAPTURE(exact);
        check_parts(pair);
      }
    }
  }
}

TEST_CASE("k parts appended are one pass: elements that are left out, parts left out whole") {
  const std::vector<LinearRange> holes[] = {{{0, 1}},
                                            {{0, kBlock}},
                                            {{5, 3 * kBlock + 5}},
                                            {{kBlock - 1, kBlock + 1}, {kCount - 1, kCount}},
                                            {{0, 6 * kBlock}}};
  for (const DType dtype : {DType::f32, DType::bf16, DType::f4_e2m1, DType::f64}) {
    for (const auto& left_out : holes) {
      Case pair = case_of(dtype, dtype, Data::hard, kCount);
      pair.left_out = left_out;
      CAPTURE(name(dtype));
      CAPTURE(left_out.front().end);
      check_parts(pair);
    }
  }
}

}  // namespace
}  // namespace ttcheck::compare
