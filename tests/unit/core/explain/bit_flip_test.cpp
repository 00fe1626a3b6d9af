// SPDX-License-Identifier: Apache-2.0
#include "core/explain/bit_flip.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/pair_beyond.hpp"

namespace ttcheck::explain {
namespace {

using Indices = std::vector<std::int64_t>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Row {
  const char* what;
  std::vector<double> reference, candidate;
  Indices bits;  ///< by element that is turned over; empty: no explanation
  double rel = 0, noise = 1e-6;
  DType dtype = DType::f32, reference_dtype = DType::f32;
  double residual = 0;
};

std::vector<double> drawn(std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(1 + static_cast<double>(i));
  return values;
}

/// Each element's exponent is off by 2^64.
std::vector<double> turned(std::vector<double> values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = std::ldexp(values[i], values[i] < 2 ? -64 : 64);  // bit 29 was set, or was not
  }
  return values;
}

TEST_CASE("a few elements, each of which one bit makes right") {
  const auto few = drawn(20);
  const std::vector<Row> rows = {
      {"a bit of the fraction", {1, 2, 4}, {1, 2, 6}, {22}},
      {"the last bit is rounding", {1, 2, 4}, {1 + 0x1p-23, 2, 4}, {}},
      {"of two as well", {1, 2, 4}, {1 + 0x1p-23, 2 + 0x1p-22, 4}, {}},
      {"beside another it is one", {1, 2, 4}, {1 + 0x1p-23, 2, 6}, {0, 22}},
      {"a number alone", {1}, {2}, {}},
      {"the sign of one", {1, 2, 4}, {1, -2, 4}, {31}},
      {"of small numbers", {0.25, 0.5}, {0.25, -0.5}, {31}},
      {"what became infinite beside noise", {1, 2, 4}, {kInf, 2, 4}, {30}, 1e-5, 1e-5},
      {"the signs of two are a negation", {1, 2, 4}, {1, -2, -4}, {}},
      {"a sign and a fraction", {1, 2, 4}, {1, -2, 6}, {31, 22}},
      {"what became infinite", {1, 2, 4}, {kInf, 2, 4}, {30}},
      {"what became NaN", {1.5, 2, 4}, {kNan, 2, 4}, {30}},
      {"of zero", {0, 2, 4}, {2, 2, 4}, {30}},
      {"of zeros alone", {0, 0}, {2, 0}, {}},
      {"two bits", {1, 2, 4}, {1, 2, 7}, {}},
      {"one right, one by two bits", {1, 2, 4}, {1.5, 2, 7}, {}},
      {"nothing is wrong", {1, 2, 4}, {1, 2, 4}, {}},
      {"eight", few, turned(few, 8), {29, 29, 29, 29, 29, 29, 29, 29}},
      {"nine are too many", few, turned(few, 9), {}},
      {"half precision", {1, 2}, {1, -2}, {15}, 0, 1e-3, DType::f16, DType::f16},
      {"bfloat", {1, 2}, {1, 3}, {6}, 0, 1e-2, DType::bf16, DType::bf16},
      {"double", {1, 2}, {1, 3}, {51}, 0, 1e-12, DType::f64, DType::f64},
      {"integers", {1, 2}, {1, 3}, {}, 0, 0, DType::i32, DType::i32},
      // 2 and 32 are a bit of the exponent apart: 30, which is 30 times 4 x noise x 2.
      {"30 times the noise", {2, 1024}, {32, 1024}, {25}, 1e-7, 0.125},
      {"less than that", {2, 1024}, {32, 1024}, {}, 1e-7, 0.1251},
      {"whatever the noise, where none may differ", {2, 1024}, {32, 1024}, {25}, 0, 0.1251},
      // The bit leaves 2^-21 of 4, which is 4 x noise x 4.
      {"and some noise",
       {4, 1},
       {0x1p66 + 0x1p43, 1},
       {29},
       1e-7,
       0x1p-25,
       DType::f32,
       DType::f32,
       0x1p-21},
      {"and more than noise", {4, 1}, {0x1p66 + 0x1p43, 1}, {}, 1e-7, 0x1.fp-26},
      {"and noise that may not be", {4, 1}, {0x1p66 + 0x1p43, 1}, {}, 0, 0x1p-25},
      {"rounding from another dtype",
       {4, 1},
       {0x1p66 + 0x1p43, 1},
       {29},
       0,
       0x1p-25,
       DType::f32,
       DType::f64,
       0x1p-21},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    tests::PairBeyond pair({std::ssize(row.reference)}, row.reference, row.candidate, row.rel,
                           row.reference_dtype, row.dtype);
    pair.subject.noise = row.noise;
    const Survey seen = pair.seen();
    const auto found = bit_flip(pair.subject, seen);
    REQUIRE(found.has_value() == !row.bits.empty());
    if (!found) continue;
    CHECK(found->code == Code::bit_flip);
    CHECK(found->hypothesis.name == "bit-flip");
    CHECK(found->hypothesis.residual ==
          doctest::Approx(row.residual / std::sqrt(seen.sum_a2)).epsilon(1e-9));
    CHECK(found->penalty == doctest::Approx(1.1 * std::pow(2, std::ssize(row.bits) - 1)));
    if (row.bits.size() == 1) {
      CHECK(tests::parameter_of<std::int64_t>(*found, "bit") == row.bits[0]);
      CHECK(tests::parameter_of<Indices>(*found, "index") == Indices{seen.first});
    } else {
      CHECK(tests::parameter_of<Indices>(*found, "bit") == row.bits);
    }
  }
}

TEST_CASE("what is left where nothing is turned counts") {
  tests::PairBeyond pair({2}, {4, 1}, {-4, 1 + 0x1p-20}, 1e-5);
  const auto found = bit_flip(pair.subject, pair.seen());
  REQUIRE(found);
  CHECK(found->hypothesis.residual == doctest::Approx(0x1p-20 / std::sqrt(17)).epsilon(1e-9));
}

TEST_CASE("values that a map made are not stored ones") {
  tests::PairBeyond pair({2}, {4, 1}, {-4, 1});
  const ValueMap same;
  const Survey seen = pair.seen();
  CHECK(bit_flip(pair.subject, seen));
  pair.subject.pair.candidate_map = &same;
  CHECK_FALSE(bit_flip(pair.subject, seen));
}

TEST_CASE("places are told in the tensor's shape") {
  tests::PairBeyond one({2, 3}, {1, 2, 4, 1, 2, 4}, {1, 2, 4, 1, 2, -4});
  const auto found = bit_flip(one.subject, one.seen());
  REQUIRE(found);
  CHECK(tests::parameter_of<Indices>(*found, "index") == Indices{1, 2});
  CHECK(found->words == "bit 31 of that one element of f32 is turned over");
  tests::PairBeyond two({2, 3}, {1, 2, 4, 1, 2, 4}, {1, 2, 6, 1, 2, -4});
  const auto both = bit_flip(two.subject, two.seen());
  REQUIRE(both);
  CHECK(tests::parameter_of<Indices>(*both, "index") == Indices{0, 2, 1, 2});
  CHECK(both->words == "one bit is turned over in each of 2 elements of f32");
}

}  // namespace
}  // namespace ttcheck::explain
