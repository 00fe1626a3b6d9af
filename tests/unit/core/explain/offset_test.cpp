// SPDX-License-Identifier: Apache-2.0
#include "core/explain/offset.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/pair_beyond.hpp"

namespace ttcheck::explain {
namespace {

TEST_CASE("the logarithm of an axis' size, either sign") {
  struct Row {
    double c, noise;
    std::string words;
  };
  const double ln2 = std::log(2), ln8 = std::log(8);
  const Row rows[] = {
      {ln2, 1e-6, "ln(tp)"},
      {-ln2, 1e-6, "-ln(tp)"},
      {ln8, 1e-6, "ln(pp)"},
      {0, 1e-6, ""},  // of the axis of one
      {1, 1e-6, ""},
      {ln2 + 0.015, 1e-3, "ln(tp)"},  // 16 times the noise, of 1 at least
      {ln2 - 0.015, 1e-3, "ln(tp)"},
      {ln2 + 0.017, 1e-3, ""},
      {ln8 + 0.033, 1e-3, "ln(pp)"},  // or of the logarithm
      {ln8 + 0.034, 1e-3, ""},
  };
  tests::PairBeyond pair({1}, {1}, {2});
  pair.mesh.axes = {{"dp", 1}, {"tp", 2}, {"pp", 8}};
  for (const Row& row : rows) {
    CAPTURE(row.c);
    pair.subject.noise = row.noise;
    CHECK(logarithm_of(row.c, pair.subject) == row.words);
  }
}

struct Row {
  const char* what;
  std::vector<double> reference, candidate;
  std::optional<double> c = {};
  double residual = 0;
  double penalty = 1.5;
  std::string words = {};
};

void check(const std::vector<Row>& rows, const std::vector<Axis>& axes = {}) {
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    tests::PairBeyond pair({std::ssize(row.reference)}, row.reference, row.candidate);
    pair.mesh.axes = axes;
    const auto found = offset(pair.subject, pair.seen());
    REQUIRE(found.has_value() == row.c.has_value());
    if (!found) continue;
    CHECK(found->code == Code::offset);
    CHECK(found->hypothesis.name == "offset");
    CHECK(*tests::parameter_of<double>(*found, "c") == doctest::Approx(*row.c).epsilon(1e-7));
    CHECK(found->hypothesis.residual == doctest::Approx(row.residual).epsilon(1e-7));
    CHECK(found->penalty == row.penalty);
    if (!row.words.empty()) CHECK(found->words == row.words);
  }
}

TEST_CASE("the candidate is the reference and a constant") {
  const double inf = std::numeric_limits<double>::infinity();
  const float ln4 = 1.3862944F;
  check({
      {"of three", {1, 2, 4}, {3, 4, 6}, 2, 0, 1.5, "the candidate is the reference + 2"},
      {"less a constant",
       {1, 2, 4},
       {0.5, 1.5, 3.5},
       -0.5,
       0,
       1.5,
       "the candidate is the reference + -0.5"},
      // d = 1, 1, 4: c = 2, and 18 - 12 is left of 4 + 4 + 1.
      {"not all of it", {2, 2, 1}, {3, 3, 5}, 2, std::sqrt(6.0 / 9)},
      {"of two", {1, 2}, {3, 4}},
      {"of zeros", {0, 0, 0}, {1, 1, 1}},
      {"a number was lost", {1, 2, 4, 8}, {3, 4, 6, inf}},
      {"the same infinity has no part in it", {1, 2, 4, inf}, {3, 4, 6, inf}, 2},
  });
  check({{"of one, the logarithm of an axis",
          {2},
          {2 + ln4},
          ln4,
          0,
          1.5,
          "the candidate is the reference + 1.38629 = ln(cp)"},
         {"of two",
          {2, 3},
          {2 - ln4, 3 - ln4},
          -ln4,
          0,
          1.5,
          "the candidate is the reference + -1.38629 = -ln(cp)"},
         {"of one, another number", {2}, {3}}},
        {{"cp", 4}});
}

TEST_CASE("sums beyond the range of doubles say nothing") {
  for (const double own : {1.0, 1e200}) {
    tests::PairBeyond pair({4}, {own, 1, 2, 3}, {-1e200, 2, 3, 4}, 0, DType::f64, DType::f64);
    CHECK_FALSE(offset(pair.subject, pair.seen()));
  }
  // Against such a reference nothing would be left of any difference.
  tests::PairBeyond pair({4}, {1e200, 1, 2, 3}, {1e200, 2, 5, 4}, 0, DType::f64, DType::f64);
  CHECK_FALSE(offset(pair.subject, pair.seen()));
}

TEST_CASE("or where it differs at all, if that says more") {
  const double ln4 = 1.3862943649291992;
  const std::vector<double> a = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto with = [&](std::vector<double> d) {
    std::vector<double> b = a;
    for (std::size_t i = 0; i < d.size(); ++i) b[i] += d[i];
    return b;
  };
  constexpr double kE = 0x1p-7;
  // Of three that differ by 2 the mean is 0.75, and 12 - 36 / 8 is left of 204.
  const double of_three = std::sqrt((12 - 36.0 / 8) / 204);
  // 2, 2, 2, 2 + e: 3/4 e^2 is left, of all 8 + 2 e + 7/8 e^2; a 900th of that is at e = 0.11043.
  const double less = 0.11, more = 0.111;
  const double c = 2 + less / 4, left = 0.75 * less * less;
  const double sum = 8 + more, all_left = 12 + (2 + more) * (2 + more) - sum * sum / 8;
  check({
      {"four of eight", a, with({2, 2, 2, 2}), 2, 0, 12,
       "the 4 elements of 8 that differ are the reference + 2"},
      {"three are too few", a, with({2, 2, 2}), 0.75, of_three},
      {"all eight", a, with({2, 2, 2, 2, 2, 2, 2, 2}), 2, 0, 1.5},
      {"four that were alike",
       {3, 3, 3, 3, 4, 6, 8, 1},
       {5, 5, 5, 5, 4, 6, 8, 1},
       1,
       std::sqrt(8.0 / 153)},
      {"four that are alike now",
       {1, 2, 3, 4, 5, 6, 7, 8},
       {9, 9, 9, 9, 5, 6, 7, 8},
       3.25,
       std::sqrt((64 + 49 + 36 + 25 - 26.0 * 26 / 8) / 204)},
      // d = 2, 2 - E, 2 + E, 2: as of a constant that was added, but one side has one number.
      {"four that are alike now and nearly were",
       {3, 3 + kE, 3 - kE, 3, 4, 6, 8, 1},
       {5, 5, 5, 5, 4, 6, 8, 1},
       1,
       std::sqrt((8 + 2 * kE * kE) / (153 + 2 * kE * kE))},
      {"four that were alike and nearly are",
       {3, 3, 3, 3, 4, 6, 8, 1},
       {5, 5 + kE, 5 - kE, 5, 4, 6, 8, 1},
       1,
       std::sqrt((8 + 2 * kE * kE) / 153)},
      {"within a thirtieth", a, with({2, 2, 2, 2 + less}), c, std::sqrt(left / 204), 12},
      {"not quite", a, with({2, 2, 2, 2 + more}), sum / 8, std::sqrt(all_left / 204)},
  });
  check({{"the logarithm of an axis", a, with({ln4, ln4, ln4, ln4}), ln4, 0, 12,
          "the 4 elements of 8 that differ are the reference + 1.38629 = ln(cp)"}},
        {{"cp", 4}});
}

TEST_CASE("what is right may differ by noise, and counts as left") {
  const std::vector<double> a = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<double> b = a;
  for (std::size_t i = 0; i < 4; ++i) b[i] += 2;
  b[7] += 0x1p-10;
  tests::PairBeyond pair({8}, a, b, 1e-2);
  const auto found = offset(pair.subject, pair.seen());
  REQUIRE(found);
  CHECK(found->penalty == 12);
  CHECK(found->hypothesis.residual == doctest::Approx(0x1p-10 / std::sqrt(204)).epsilon(1e-6));
}

TEST_CASE("some must leave 30 times less than all") {
  // Seven of eight differ by 2, one by 2 - e: of all nearly as much is left as of some.
  const std::vector<double> a = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<double> b = a;
  for (std::size_t i = 0; i < 8; ++i) b[i] += i == 7 ? 1.9375 : i == 0 ? 2.0625 : 2;
  tests::PairBeyond pair({8}, a, b);
  pair.result.limit.kind = LimitKind::tolerance;
  pair.result.limit.atol = 1.99;
  const auto found = offset(pair.subject, pair.seen());
  REQUIRE(found);
  CHECK(found->penalty == 1.5);
  CHECK(*tests::parameter_of<double>(*found, "c") == 2);
}

}  // namespace
}  // namespace ttcheck::explain
