// SPDX-License-Identifier: Apache-2.0
#include "core/limits/ensemble.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>

namespace ttcheck::limits {
namespace {

constexpr double kLevel = 0.01;

/// Normal enough, and the same on every platform: a sum of twelve uniform numbers.
double normal(std::mt19937_64& bits) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(bits() >> 11) * 0x1p-53;
  return sum;
}

constexpr std::size_t kTensors = 40, kRuns = 12, kFirst = 6, kShifted = 17;

/// 6 + 6 runs of 40 tensors whose noise grows 230-fold with depth; from one tensor on the second
/// group is `shift` noise floors away, in one direction.
std::vector<Distances> simulate(double shift, std::size_t elements, std::mt19937_64& bits) {
  std::vector<Distances> tensors;
  for (std::size_t t = 0; t < kTensors; ++t) {
    const double sigma = 1e-6 * std::pow(230.0, static_cast<double>(t) / (kTensors - 1));
    std::vector<double> direction(elements);
    double length = 0;
    for (double& one : direction) {
      one = normal(bits);
      length += one * one;
    }
    // A floor is the distance of two runs: sigma sqrt(2 n).
    const double off =
        t < kShifted ? 0 : shift * sigma * std::sqrt(2.0 * static_cast<double>(elements) / length);
    std::array<std::vector<double>, kRuns> runs;
    for (std::size_t r = 0; r < kRuns; ++r) {
      for (std::size_t e = 0; e < elements; ++e) {
        runs[r].push_back(sigma * normal(bits) + (r < kFirst ? 0 : off * direction[e]));
      }
    }
    Distances& distances = tensors.emplace_back();
    for (std::size_t i = 0; i < kRuns; ++i) {
      for (std::size_t j = i + 1; j < kRuns; ++j) {
        double sum = 0;
        for (std::size_t e = 0; e < elements; ++e) {
          sum += (runs[i][e] - runs[j][e]) * (runs[i][e] - runs[j][e]);
        }
        distances.push_back(std::sqrt(sum));
      }
    }
  }
  return tensors;
}

std::optional<std::size_t> first_apart(double shift, std::size_t elements, std::mt19937_64& bits) {
  const Ensemble found = separate(simulate(shift, elements, bits), kFirst, kRuns, kLevel);
  CHECK(found.relabellings == 462);
  for (std::size_t t = 0; t < kTensors; ++t) {
    if (found.tensors[t].p < kLevel) {
      CHECK(found.tensors[t].energy > found.critical);
      return t;
    }
  }
  return std::nullopt;
}

TEST_CASE("a shift of half a noise floor or of one is found where it begins") {
  std::mt19937_64 bits(2601);
  for (const double shift : {0.5, 1.0}) {
    for (int repeat = 0; repeat < 10; ++repeat) CHECK(first_apart(shift, 384, bits) == kShifted);
  }
}

TEST_CASE("of 500 comparisons without a difference at most one in a hundred says there is one") {
  std::mt19937_64 bits(7239);
  int alarms = 0;
  for (int repeat = 0; repeat < 500; ++repeat) alarms += first_apart(0, 24, bits) ? 1 : 0;
  CHECK(alarms <= 5);
}

TEST_CASE("ways to part the runs: the complement is the same only of groups of one size") {
  const auto ways = [](std::size_t first, std::size_t runs) {
    const Distances one(runs * (runs - 1) / 2, 1.0);
    return separate(std::vector<Distances>{one}, first, runs, kLevel);
  };
  CHECK(ways(2, 4).relabellings == 3);
  CHECK(ways(2, 5).relabellings == 10);
  CHECK(ways(5, 10).relabellings == 126);
  CHECK(!ways(4, 8).decidable);
  CHECK(ways(5, 10).decidable);
  CHECK(ways(4, 9).decidable);
}

TEST_CASE("energy by hand: 2 x mean between less the means within, over the median") {
  // Runs at 0, 1 | 10, 12 on a line.
  const Distances line{1, 10, 12, 9, 11, 2};
  const Ensemble found = separate(std::vector<Distances>{line}, 2, 4, kLevel);
  CHECK(found.tensors[0].energy == doctest::Approx((2 * 10.5 - 1 - 2) / 9.5));
  CHECK(found.tensors[0].floor == 1.5);
  CHECK(found.tensors[0].between == 10.5);
  CHECK(found.tensors[0].p == doctest::Approx(1.0 / 3));
  CHECK(pair_at(0, 1, 4) == 0);
  CHECK(pair_at(1, 2, 4) == 3);
  CHECK(pair_at(2, 3, 4) == 5);
}

TEST_CASE(
    "runs that are all equal are nowhere apart; equal groups that differ are as far as can be") {
  const Distances none(6, 0.0), across{0, 1, 1, 1, 1, 0};
  const Ensemble found = separate(std::vector<Distances>{none, across}, 2, 4, kLevel);
  CHECK(found.tensors[0].energy == 0);
  CHECK(found.tensors[0].p == 1);
  CHECK(found.tensors[1].energy == 2);
  CHECK(found.tensors[1].p == doctest::Approx(1.0 / 3));
}

}  // namespace
}  // namespace ttcheck::limits
