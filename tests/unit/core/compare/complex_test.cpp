// SPDX-License-Identifier: Apache-2.0
#include "core/compare/complex.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/complex_kernels.hpp"
#include "tests/support/stored_values.hpp"
#include "tests/support/wide_sums.hpp"

namespace ttcheck::compare {
namespace {

using tests::stored_values;
using Doubles = std::vector<double>;

constexpr std::int64_t kBase = 4096;

Rule rule_of(const Kernels& isa) {
  Rule rule = rule_for(DType::c64, DType::c64, true);
  rule.isa = &isa;
  return rule;
}

/// What blocks one after the other add; nothing where one of them is not for these loops.
std::optional<Metrics> by_squares(const Kernels& isa, const std::vector<Doubles>& a,
                                  const std::vector<Doubles>& b) {
  const auto block = std::make_unique<WideBlock>();
  Metrics metrics;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto count = static_cast<int>(a[i].size() / 2);
    if (!add_c64_block(rule_of(isa), stored_values(DType::c64, a[i]).data(),
                       stored_values(DType::c64, b[i]).data(), count,
                       kBase * static_cast<std::int64_t>(i), *block, metrics)) {
      CHECK(metrics == Metrics{});
      return std::nullopt;
    }
  }
  return metrics;
}

Metrics by_moduli(const Kernels& isa, const std::vector<Doubles>& a,
                  const std::vector<Doubles>& b) {
  Metrics metrics;
  for (std::size_t i = 0; i < a.size(); ++i) {
    tests::add_wide(rule_of(isa), stored_values(DType::c64, a[i]), stored_values(DType::c64, b[i]),
                    static_cast<int>(a[i].size() / 2), kBase * static_cast<std::int64_t>(i),
                    metrics);
  }
  return metrics;
}

/// All but the sums, which are rounded elsewhere, are the same numbers.
void check_same(Metrics found, const Metrics& expected) {
  for (double Metrics::* sum :
       {&Metrics::sum_a2, &Metrics::sum_b2, &Metrics::sum_d2, &Metrics::max_block_d2}) {
    CHECK(std::fabs(found.*sum - expected.*sum) <= 1e-14 * expected.*sum);
    found.*sum = expected.*sum;
  }
  CHECK(found == expected);
}

TEST_CASE("complex numbers as stored: every instruction set gives what is told one by one") {
  for (const Kernels* isa : usable_kernels()) {
    CAPTURE(std::string(isa->name));
    tests::check_complex(*isa);
  }
}

TEST_CASE("blocks by squares of moduli are what they are by moduli") {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  for (const double apart : {1e-7, 1.3e-6, 2e-6, 1e-3, 1.0}) {  // about the tolerance, and beyond
    for (const double scale : {1e-30, 1e-5, 1.0, 1e30}) {
      std::vector<Doubles> a, b;
      for (const int count : {2048, 512, 513, 1, 30}) {
        Doubles of_a, of_b;
        for (int i = 0; i < 2 * count; ++i) {
          of_a.push_back(static_cast<float>(scale * normal(random)));
          of_b.push_back(static_cast<float>(
              random() % 2 == 0 ? of_a.back() : of_a.back() * (1 + apart * normal(random))));
        }
        a.push_back(of_a);
        b.push_back(of_b);
      }
      for (const Kernels* isa : usable_kernels()) {
        CAPTURE(std::string(isa->name));
        CAPTURE(apart);
        CAPTURE(scale);
        const auto found = by_squares(*isa, a, b);
        REQUIRE(found);
        check_same(*found, by_moduli(*isa, a, b));
      }
    }
  }
}

TEST_CASE("the first of equal differences counts, and what is just within the tolerance is close") {
  const double within = static_cast<float>(1 + 1.2e-6 + 1e-5), beyond = static_cast<float>(1.00002);
  for (const auto& [a, b] :
       std::vector<std::pair<Doubles, Doubles>>{{{0, 0, 3, 4, 3, 4}, {0, 0, 3, -4, 3, -4}},
                                                {{0, 0, 0, 0}, {0, -0.0, -0.0, 0}},
                                                {{1, 0, 0, 1}, {within, 0, 0, beyond}},
                                                {{0, 0}, {1e-38, 1e-45}},
                                                {{3e38, 3e38}, {-3e38, -3e38}}}) {
    const auto found = by_squares(kernels(), {a}, {b});
    REQUIRE(found);
    check_same(*found, by_moduli(kernels(), {a}, {b}));
  }
}

TEST_CASE("a block that holds what is not finite is left to others, and nothing of it is counted") {
  for (const double odd : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    for (const std::size_t at : {0U, 1U, 40U, 63U}) {
      Doubles a(64, 1), b(64, 2);
      a[at] = odd;
      CHECK_FALSE(by_squares(kernels(), {a}, {b}));
      CHECK_FALSE(by_squares(kernels(), {b}, {a}));
      CHECK_FALSE(by_squares(kernels(), {a}, {a}));
    }
  }
}

TEST_CASE("equal blocks have the sums that their differing kin have") {
  const auto block = std::make_unique<WideBlock>();
  std::mt19937_64 random(5);
  const std::vector<float> parts = tests::parts_of(100, random);
  const Doubles values(parts.begin(), parts.end());
  const auto stored = stored_values(DType::c64, values);
  Metrics equal;
  CHECK(add_equal_block(rule_of(kernels()), stored.data(), 100, *block, equal));
  const auto found = by_squares(kernels(), {values}, {values});
  REQUIRE(found);
  CHECK(*found == equal);
}

TEST_CASE("a bound on squares misses nothing that the bound itself finds") {
  std::mt19937_64 random(6);
  std::lognormal_distribution<double> wide(0, 20);
  for (int i = 0; i < 100000; ++i) {
    const double rel = wide(random), larger = wide(random);
    const double d = std::nextafter(rel * larger, HUGE_VAL);
    CHECK(d * d > below_square(rel) * (larger * larger));
  }
}

}  // namespace
}  // namespace ttcheck::compare
