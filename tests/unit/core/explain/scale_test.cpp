// SPDX-License-Identifier: Apache-2.0
#include "core/explain/scale.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/pair_beyond.hpp"

namespace ttcheck::explain {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Row {
  const char* what;
  std::vector<double> reference, candidate;
  double k = 0;  ///< 0: no explanation
  double penalty = 1.1;
  double noise = 1e-6;
  std::vector<Axis> axes = {};
  std::string axis = {};
  double residual = 0;
};

TEST_CASE("the candidate is a multiple of the reference") {
  const double eps = 0x1p-23;
  const std::vector<Axis> mesh = {{"dp", 1}, {"tp", 2}, {"pp", 4}};
  const Row rows[] = {
      {"twice", {1, 2, 3}, {2, 4, 6}, 2},
      {"half", {1, 2, 3}, {0.5, 1, 1.5}, 0.5},
      {"of small numbers", {0.5, 0.25}, {1, 0.5}, 2},
      {"negated", {1, 2}, {-1, -2}, -1},
      {"minus a quarter", {4, 8}, {-1, -2}, -0.25},
      {"by no whole number", {1, 2}, {1.25, 2.5}, 1.25, 1.5},
      {"over none", {5, 10}, {4, 8}, 0.8, 1.5},
      {"two fifths", {5, 10}, {2, 4}, 0.4, 1.5},
      {"near one, which is the size of no axis",
       {1, 1},
       {1.0625, 1.0625},
       1.0625,
       1.5,
       0.01,
       {{"dp", 1}}},
      {"the largest that is simple", {1, 2}, {4096, 8192}, 4096},
      {"one more", {1, 2}, {4097, 8194}, 4097, 1.5},
      {"a quarter off a whole number is within the noise",
       {3, 6},
       {12.75, 25.5},
       4.25,
       1.1,
       0.0625},
      {"or not", {3, 6}, {12.75, 25.5}, 4.25, 1.5, 0.0624},
      // A.B = 54, A.A = 25, B.B = 117: k = 2.16, and 0.36 of B.B is left.
      {"not all of it", {3, 4}, {6, 9}, 2.16, 1.5, 1e-6, {}, "", std::sqrt(0.36 / 117)},
      {"four units", {1, 1}, {1 + 4 * eps, 1 + 4 * eps}},
      {"five", {1, 1}, {1 + 5 * eps, 1 + 5 * eps}, 1 + 5 * eps, 1.1},
      // A.B = 11.25, A.A = 10, k = 1.125; B.B = 13.25, residual sqrt(0.59375 / 13.25) = 0.2117.
      {"four times the noise", {3, 1}, {3.5, 0.75}, 0, 0, 0.03125},
      {"more than that",
       {3, 1},
       {3.5, 0.75},
       1.125,
       1.5,
       0.03,
       {},
       "",
       std::sqrt(0.15625 / 12.8125)},
      {"what noise there is, not what there might be", {1, 1}, {1.125, 1.125}, 1.125, 1.1, 1},
      {"zeros", {0, 0}, {1, 2}},
      {"to zeros", {1, 2}, {0, 0}},
      {"a number that was lost", {1, 2, 3}, {2, 4, kNan}},
      {"one number, halved", {6.25}, {3.125}, 0.5},
      {"one number, by none", {6.25}, {8.5}},
      {"near a whole one", {100}, {300.375}, 3.00375, 1.5},
      {"not near enough", {100}, {300.6}},
      {"near one", {100}, {100.5}},
      {"one number, negated", {4}, {-4}, -1},
      {"by the size of an axis", {3}, {6}, 2, 1.1, 1e-6, mesh, " = tp"},
      {"over it", {4}, {1}, 0.25, 1.1, 1e-6, mesh, " = 1/pp"},
      {"of no axis", {3}, {7.5}, 0, 0, 1e-6, mesh},
      {"an axis of one is none", {4, 8}, {-4, -8}, -1, 1.1, 1e-6, {{"dp", 1}}},
      {"near the size: 16 times the noise", {16, 32}, {34, 68}, 2.125, 1.5, 0x1p-8, mesh, " = tp"},
      {"farther", {16, 32}, {34, 68}, 2.125, 1.5, 0x1.fp-9, mesh},
      {"over it, near", {64, 128}, {34, 68}, 0.53125, 1.5, 0x1p-8, mesh, " = 1/tp"},
      {"over it, farther", {64, 128}, {34, 68}, 0.53125, 1.5, 0x1.fp-9, mesh},
      {"but by no more than a tenth", {16, 32}, {36, 72}, 2.25, 1.5, 0.05, mesh},
      {"two axes of one size: the first",
       {1, 2},
       {2, 4},
       2,
       1.1,
       1e-6,
       {{"a", 2}, {"b", 2}},
       " = a"},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    tests::PairBeyond pair({std::ssize(row.reference)}, row.reference, row.candidate);
    pair.subject.noise = row.noise;
    pair.mesh.axes = row.axes;
    for (const bool surveyed : {true, false}) {  // as well, in fp32, from the first pass alone
      const Survey seen = surveyed ? pair.seen() : Survey();
      const auto found = scale(pair.subject, seen);
      REQUIRE(found.has_value() == (row.k != 0));
      if (!found) continue;
      CHECK(found->code == Code::scale);
      CHECK(found->hypothesis.name == "scale");
      CHECK(*tests::parameter_of<double>(*found, "k") ==
            doctest::Approx(row.k).epsilon(surveyed ? 1e-12 : 1e-3));
      CHECK(found->hypothesis.residual ==
            doctest::Approx(row.residual).epsilon(surveyed ? 1e-7 : 0.02));
      CHECK(found->penalty == row.penalty);
      CHECK(found->words.starts_with("the candidate is "));
      CHECK(found->words.ends_with(" x the reference" + row.axis));
    }
  }
}

TEST_CASE("F7: a factor that the sums beside one large value made up is none") {
  std::vector<double> reference = tests::drawn(4'096, 1.7), candidate = tests::drawn(4'096, 2.3);
  reference[9] = candidate[9] = 1e30;
  tests::PairBeyond pair({4'096}, reference, candidate);
  Survey seen = pair.seen();
  CHECK_FALSE(scale(pair.subject, seen));
  seen.sum_ab = seen.sum_a2 * (1 + 0x1p-20);
  CHECK_FALSE(scale(pair.subject, seen));
}

TEST_CASE("rounding is that of the coarser dtype") {
  const double k = 1 + 0x1p-6;  // two units of bf16
  tests::PairBeyond pair({2}, {1, 1}, {k, k}, 0, DType::f32, DType::bf16);
  CHECK_FALSE(scale(pair.subject, pair.seen()));
  pair.result.candidate_dtype = DType::f32;
  CHECK(scale(pair.subject, pair.seen()));
  pair.result.dtype = DType::bf16;
  CHECK_FALSE(scale(pair.subject, pair.seen()));
}

TEST_CASE("the survey's sums go before those of the first pass") {
  tests::PairBeyond pair({2}, {1, 2}, {2, 4});
  Survey seen = pair.seen();
  seen.sum_b2 *= 9;
  seen.sum_ab *= 3;
  pair.result.metrics.sum_d2 = 125;  // (5, 10)
  CHECK(tests::parameter_of<double>(*scale(pair.subject, seen), "k") == 6);
}

}  // namespace
}  // namespace ttcheck::explain
