// SPDX-License-Identifier: Apache-2.0
#include "core/compare/measure.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "core/model/decode.hpp"
#include "tests/support/stored_values.hpp"

namespace ttcheck::compare {
namespace {

enum class Data { ordinary, hard, tiny, all_nan, zeros, one_side_zero, huge, gaps };

double draw(Data data, std::mt19937& random) {
  std::normal_distribution<double> normal;
  switch (data) {
    case Data::tiny:
      return normal(random) * 1e-20;
    case Data::all_nan:
      return NAN;
    case Data::zeros:
      return random() % 2 == 0 ? 0.0 : -0.0;
    case Data::huge:
      return normal(random) * 1e25;
    case Data::gaps:
      return std::ldexp(normal(random), static_cast<int>(random() % 200) - 100);
    case Data::hard:
      break;
    default:
      return normal(random);
  }
  switch (random() % 300) {
    case 0:
      return NAN;
    case 1:
      return INFINITY;
    case 2:
      return -INFINITY;
    case 3:
      return -0.0;
    case 4:
      return 1e-41;
    case 5:
      return 3e38;
    default:
      return normal(random);
  }
}

Metrics run(const Kernels* isa, DType a, DType b, std::int64_t count,
            const std::vector<std::byte>& bytes_a, const std::vector<std::byte>& bytes_b) {
  Rule rule = rule_for(a, b, false);
  rule.isa = isa;
  std::vector<std::byte> copy_a = bytes_a;
  std::vector<std::byte> copy_b = bytes_b;
  const auto scratch = make_scratch();
  return measure(rule, 0, count, copy_a, copy_b, {}, *scratch);
}

bool near(double a, double b) { return a == b || std::fabs(a - b) <= 1e-6 * std::fabs(b); }

/// Every member is the same, but for those that sums and quotients in fp32 move: near, and where
/// two elements are about as large, the other may be the largest.
void check_near(const Metrics& narrow, Metrics exact) {
  CHECK(near(narrow.sum_d2, exact.sum_d2));
  CHECK(near(narrow.sum_a2, exact.sum_a2));
  CHECK(near(narrow.sum_b2, exact.sum_b2));
  CHECK(near(narrow.max_block_d2, exact.max_block_d2));
  CHECK(near(narrow.max_abs, exact.max_abs));
  CHECK(near(narrow.max_rel, exact.max_rel));
  CHECK((narrow.max_abs_index < 0) == (exact.max_abs_index < 0));
  CHECK((narrow.max_rel_index < 0) == (exact.max_rel_index < 0));
  exact.sum_d2 = narrow.sum_d2;
  exact.sum_a2 = narrow.sum_a2;
  exact.sum_b2 = narrow.sum_b2;
  exact.max_block_d2 = narrow.max_block_d2;
  exact.max_abs = narrow.max_abs;
  exact.max_rel = narrow.max_rel;
  exact.max_abs_index = narrow.max_abs_index;
  exact.max_rel_index = narrow.max_rel_index;
  CHECK(narrow == exact);
}

TEST_CASE("every instruction set gives the same bits, and those of fp64 sums to 1e-6") {
  const std::vector<std::pair<DType, DType>> pairs = {{DType::f32, DType::f32},
                                                      {DType::bf16, DType::bf16},
                                                      {DType::f16, DType::f16},
                                                      {DType::bf16, DType::f32},
                                                      {DType::f32, DType::f16},
                                                      {DType::f16, DType::bf16},
                                                      {DType::f8_e4m3fn, DType::f8_e4m3fn},
                                                      {DType::f8_e5m2, DType::f8_e5m2},
                                                      {DType::f8_e4m3fnuz, DType::f8_e4m3fnuz},
                                                      {DType::f8_e5m2fnuz, DType::f8_e5m2fnuz},
                                                      {DType::f8_e8m0, DType::f8_e8m0},
                                                      {DType::f6_e2m3, DType::f6_e2m3},
                                                      {DType::f6_e3m2, DType::f6_e3m2},
                                                      {DType::f4_e2m1, DType::f4_e2m1},
                                                      {DType::i16, DType::i16},
                                                      {DType::u8, DType::f32},
                                                      {DType::f8_e4m3fn, DType::bf16},
                                                      {DType::u8, DType::u8},
                                                      {DType::i8, DType::i8},
                                                      {DType::boolean, DType::boolean},
                                                      {DType::u16, DType::u16},
                                                      {DType::u32, DType::u32},
                                                      {DType::i32, DType::i32},
                                                      {DType::u64, DType::u64},
                                                      {DType::i8, DType::i32},
                                                      {DType::f64, DType::f64},
                                                      {DType::i64, DType::i64}};
  const auto sets = usable_kernels();
  REQUIRE(!sets.empty());
  CHECK(sets.back()->name == "scalar");
  std::mt19937 random(1);
  for (const auto& [dtype_a, dtype_b] : pairs) {
    for (const Data data : {Data::ordinary, Data::hard, Data::tiny, Data::all_nan, Data::zeros,
                            Data::one_side_zero, Data::huge, Data::gaps}) {
      for (const std::int64_t count : {1, 17, 2048, 2049, 9000}) {
        std::vector<double> values(static_cast<std::size_t>(count));
        for (double& value : values) value = draw(data, random);
        const auto a = tests::stored_values(dtype_a, values);
        for (double& value : values) {
          if (random() % 3 == 0) value *= 1 + 1e-3;
          if (data == Data::hard && random() % 200 == 0) value = draw(data, random);
          if (data == Data::one_side_zero) value = 0;
        }
        const auto b = tests::stored_values(dtype_b, values);
        const Metrics expected = run(sets.back(), dtype_a, dtype_b, count, a, b);
        CAPTURE(name(dtype_a));
        CAPTURE(name(dtype_b));
        CAPTURE(static_cast<int>(data));
        CAPTURE(count);
        for (const Kernels* isa : sets) CHECK(run(isa, dtype_a, dtype_b, count, a, b) == expected);

        Rule rule = rule_for(dtype_a, dtype_b, true);
        auto copy_a = a;
        auto copy_b = b;
        const auto scratch = make_scratch();
        const Metrics exact = measure(rule, 0, count, copy_a, copy_b, {}, *scratch);
        check_near(expected, exact);
      }
    }
  }
}

TEST_CASE("results do not depend on what the blocks before held") {
  // A block of NaN makes the next ones wary; their sums must be those of an unwary pass.
  std::mt19937 random(2);
  std::vector<double> values(3 * kBlock);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = draw(Data::ordinary, random) * (i < kBlock ? 1 : 1e-12);
  const auto clean_a = tests::stored_values(DType::f32, values);
  auto dirty = values;
  for (std::size_t i = 0; i < kBlock; ++i) dirty[i] = NAN;
  const auto dirty_a = tests::stored_values(DType::f32, dirty);
  for (double& value : values) value *= 1.001;
  const auto b = tests::stored_values(DType::f32, values);
  const std::size_t block = kBlock * 4;
  const auto part = [&](const std::vector<std::byte>& from, std::size_t first) {
    return std::vector<std::byte>(from.begin() + static_cast<std::ptrdiff_t>(first), from.end());
  };
  const Metrics after_nan = run(&kernels(), DType::f32, DType::f32, 3 * kBlock, dirty_a, b);
  const Metrics alone =
      run(&kernels(), DType::f32, DType::f32, 2 * kBlock, part(clean_a, block), part(b, block));
  Metrics expected = alone;  // one block further on, and a block of NaN more
  expected.count += kBlock;
  expected.unequal_bits += kBlock;
  expected.unequal_values += kBlock;
  expected.beyond_close += kBlock;
  expected.max_abs_index += kBlock;
  expected.max_rel_index += kBlock;
  expected.taken_out = kBlock;
  expected.reference.nan = kBlock;
  expected.non_finite_disagree = kBlock;
  expected.non_finite_index = 0;
  expected.constant_bits = after_nan.constant_bits;  // neither is constant, so these say nothing
  CHECK(after_nan == expected);
}

TEST_CASE("what is left out takes no part") {
  const std::vector<LinearRange> holes = {{0, 1}, {9, 12}, {20, 24}};
  std::vector<double> left, right;
  for (int i = 0; i < 24; ++i) {  // numbers that each of the dtypes has
    left.push_back(i % 3 + 1);
    right.push_back(i % 4 + 1);
  }
  const auto zeroed = [&](std::vector<double> values) {
    for (const LinearRange& hole : holes) {
      for (std::int64_t i = hole.begin; i < hole.end; ++i) values[static_cast<std::size_t>(i)] = 0;
    }
    return values;
  };
  const auto scratch = make_scratch();
  for (const DType dtype : {DType::u8, DType::i32, DType::i64, DType::f16, DType::bf16, DType::f32,
                            DType::f64, DType::f8_e5m2, DType::f4_e2m1}) {
    CAPTURE(name(dtype));
    const Rule rule = rule_for(dtype, dtype, false);
    auto a = tests::stored_values(dtype, left), b = tests::stored_values(dtype, right);
    const Metrics found = measure(rule, 0, 24, a, b, holes, *scratch);
    auto zero_a = tests::stored_values(dtype, zeroed(left));
    auto zero_b = tests::stored_values(dtype, zeroed(right));
    Metrics expected = measure(rule, 0, 24, zero_a, zero_b, {}, *scratch);
    expected.count = 16;
    expected.constant_bits = found.constant_bits;
    CHECK(found == expected);
    CHECK_FALSE(found.reference_constant);
    const Metrics none = measure(rule, 0, 24, a, b, std::vector<LinearRange>{{0, 24}}, *scratch);
    CHECK(none == Metrics{});
  }
  auto wide = tests::stored_values(DType::f32, left),
       narrow = tests::stored_values(DType::bf16, left);
  const Rule casts = rule_for(DType::f32, DType::bf16, false);
  CHECK(measure(casts, 0, 24, wide, narrow, std::vector<LinearRange>{{0, 24}}, *scratch) ==
        Metrics{});
}

TEST_CASE("a packed reference is constant where all bits of its codes are the same") {
  const auto scratch = make_scratch();
  for (const DType dtype : {DType::f4_e2m1, DType::f6_e2m3, DType::f6_e3m2}) {
    const Rule rule = rule_for(dtype, dtype, false);
    for (int bit = -1; bit < bits(dtype); ++bit) {
      std::vector<std::uint8_t> codes(16, 2);
      if (bit >= 0) codes[13] ^= static_cast<std::uint8_t>(1 << bit);
      std::vector<std::byte> a(byte_size(dtype, 16));
      pack(dtype, codes.data(), 16, a.data());
      auto b = a;
      const Metrics found = measure(rule, 0, 16, a, b, {}, *scratch);
      CAPTURE(name(dtype));
      CAPTURE(bit);
      CHECK(found.reference_constant == (bit < 0));
      if (bit < 0) CHECK(found.constant_bits[0] == 2);
    }
  }
}

TEST_CASE("max_quotient is the elementwise error over the tolerance given") {
  const std::vector<double> a{1, 2, -4, 0};
  const std::vector<double> b{1, 2.5, -5, 0};
  Rule rule = rule_for(DType::f32, DType::f32, false);
  rule.rtol = 0.125;
  rule.atol = 0.5;
  auto bytes_a = tests::stored_values(DType::f32, a);
  auto bytes_b = tests::stored_values(DType::f32, b);
  const auto scratch = make_scratch();
  const Metrics m = measure(rule, 0, 4, bytes_a, bytes_b, {}, *scratch);
  CHECK(m.max_quotient == 1.0);  // |-5 + 4| / (0.5 + 0.125 * 4)
  CHECK(m.max_quotient_index == 2);
}

TEST_CASE("a narrower side that is the wider one rounded is known") {
  const std::vector<double> a{1, 1.00390625, 3e-45, NAN, -0.0, 1.0 / 3, 1, 2,
                              3, 4,          5,     6,   7,    8,       9, 1e-3};
  for (const DType narrow : {DType::bf16, DType::f16, DType::f8_e5m2}) {
    auto bytes_a = tests::stored_values(DType::f32, a);
    auto bytes_b = tests::stored_values(narrow, a);
    const auto scratch = make_scratch();
    const Rule rule = rule_for(DType::f32, narrow, false);
    CHECK(measure(rule, 0, 16, bytes_a, bytes_b, {}, *scratch).rounds_to_candidate);
    CHECK(!measure(rule, 0, 16, bytes_a, bytes_b, {}, *scratch).rounds_to_reference);
    bytes_b[6 * bytes_b.size() / 16] ^= std::byte{1};
    CHECK(!measure(rule, 0, 16, bytes_a, bytes_b, {}, *scratch).rounds_to_candidate);
    const Rule back = rule_for(narrow, DType::f32, false);
    bytes_b = tests::stored_values(narrow, a);
    CHECK(measure(back, 0, 16, bytes_b, bytes_a, {}, *scratch).rounds_to_reference);
  }
}

}  // namespace
}  // namespace ttcheck::compare
