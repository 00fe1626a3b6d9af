// SPDX-License-Identifier: Apache-2.0
#include "core/compare/whole.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/stored_values.hpp"
#include "tests/support/wide_sums.hpp"

namespace ttcheck::compare {
namespace {

using tests::stored_values;
using enum DType;

constexpr std::int64_t kBase = 4096;

struct Added {
  bool taken = false;
  Metrics metrics;
};

Added added(DType dtype, const std::vector<std::byte>& a, const std::vector<std::byte>& b,
            int count) {
  const Rule rule = rule_for(dtype, dtype, false);
  Added out;
  out.taken = WholeBlocks(rule, out.metrics).add(a.data(), b.data(), kBase, count);
  return out;
}

TEST_CASE("blocks of integers have what fp64 finds of them") {
  std::mt19937 random(1);
  for (const auto& [dtype, least, most] : std::vector<std::tuple<DType, int, int>>{
           {u8, 0, 255}, {i8, -128, 127}, {u16, 0, 65535}, {i16, -32768, 32767}, {boolean, 0, 1}}) {
    for (const int count : {1, 2, 511, 512, 513, 2048}) {
      std::uniform_int_distribution<int> draw(least, most);
      std::vector<double> x(static_cast<std::size_t>(count)), y = x;
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = draw(random);
        y[i] = random() % 4 == 0 ? draw(random) : x[i];
      }
      y.back() = x.back() == least ? most : least;  // never equal
      const auto a = stored_values(dtype, x), b = stored_values(dtype, y);
      Metrics expected;
      tests::add_wide(rule_for(dtype, dtype, true), a, b, count, kBase, expected);
      const Added got = added(dtype, a, b, count);
      CAPTURE(std::string(name(dtype)));
      CAPTURE(count);
      CHECK(got.taken);
      CHECK(got.metrics == expected);
    }
  }
}

TEST_CASE("truth values are 0 and 1 alone, at any place") {
  for (const int count : {1, 7, 8, 9, 2048}) {
    std::vector<std::byte> codes(static_cast<std::size_t>(count), std::byte{1});
    codes.front() = std::byte{0};
    CHECK(are_truth_values(codes.data(), count));
    for (const int other : {2, 3, 128, 255}) {
      for (const std::size_t at : {std::size_t{0}, codes.size() / 2, codes.size() - 1}) {
        std::vector<std::byte> wrong = codes;
        wrong[at] = static_cast<std::byte>(other);
        CHECK_FALSE(are_truth_values(wrong.data(), count));
      }
    }
  }
}

TEST_CASE("equal blocks of at most 16 bits have sums alone") {
  for (const DType dtype : {u8, i8, u16, i16, boolean}) {
    const std::vector<double> values(700, 1);
    const auto stored = stored_values(dtype, values);
    const Added got = added(dtype, stored, stored, 700);
    CAPTURE(std::string(name(dtype)));
    CHECK(got.taken);
    CHECK(got.metrics == Metrics{.sum_a2 = 700, .sum_b2 = 700});
  }
}

TEST_CASE("the largest difference and quotient are those of all blocks, the first on ties") {
  const Rule rule = rule_for(i8, i8, false);
  Metrics metrics;
  WholeBlocks blocks(rule, metrics);
  const auto block = [&](const std::vector<double>& a, const std::vector<double>& b,
                         std::int64_t base) {
    CHECK(blocks.add(stored_values(i8, a).data(), stored_values(i8, b).data(), base,
                     static_cast<int>(a.size())));
  };
  block({10, 100, 4}, {10, 90, 3}, 0);  // 10 of 100, and a quarter
  CHECK(metrics.max_abs == 10);
  CHECK(metrics.max_abs_index == 1);
  CHECK(metrics.max_rel == 0.25);
  CHECK(metrics.max_rel_index == 2);
  block({-100, 8, 1}, {-90, 6, 1}, 2048);  // as much again
  CHECK(metrics.max_abs_index == 1);
  CHECK(metrics.max_rel_index == 2);
  block({-128, 0}, {127, 0}, 4096);  // of both signs
  CHECK(metrics.max_abs == 255);
  CHECK(metrics.max_abs_index == 4096);
  CHECK(metrics.max_rel == 255.0 / 128);
  CHECK(metrics.max_rel_index == 4096);
  CHECK(metrics.unequal_values == 5);
  CHECK(metrics.beyond_close == 5);
}

TEST_CASE("what is left to fp64 adds nothing") {
  struct Row {
    const char* what;
    DType dtype;
    std::vector<std::byte> a, b;
  };
  const auto truth = [](int code) { return std::vector<std::byte>{std::byte{1}, std::byte(code)}; };
  for (const Row& row :
       {Row{"wider integers", i32, stored_values(i32, {1, 2}), stored_values(i32, {1, 2})},
        Row{"floats", f16, stored_values(f16, {1, 2}), stored_values(f16, {1, 2})},
        Row{"a truth value of 2", boolean, truth(2), truth(2)},
        Row{"of one side", boolean, truth(1), truth(3)}}) {
    CAPTURE(row.what);
    const Added got = added(row.dtype, row.a, row.b, 2);
    CHECK_FALSE(got.taken);
    CHECK(got.metrics == Metrics{});
  }
}

}  // namespace
}  // namespace ttcheck::compare
