// SPDX-License-Identifier: Apache-2.0
#include "core/explain/reduction.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/array_source.hpp"

namespace ttcheck::explain {
namespace {

using tests::ArraySource;
using tests::tensor_of;

constexpr std::int64_t kRows = 12, kColumns = 6;
constexpr double kAllowed = 1e-5;

/// An output [rows, columns], each element another.
std::vector<float> output(double from) {
  std::vector<float> values;
  for (int i = 0; i < kRows * kColumns; ++i) {
    values.push_back(static_cast<float>(std::sin(from + 1.7 * i)));
  }
  return values;
}

/// Two ranks' parts of it, to each of which `bias` is added.
std::optional<Explanation> reduced(const std::vector<float>& whole, const std::vector<float>& bias,
                                   double share) {
  std::vector<float> first = whole, second = whole;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const auto part = static_cast<float>(share * std::cos(0.3 * static_cast<double>(i)));
    const float added = bias[i % bias.size()];
    first[i] = part + added;
    second[i] = whole[i] - part;  // its own bias is in it
  }
  const ArraySource a = ArraySource::of(whole), b = ArraySource::of(first),
                    c = ArraySource::of(second);
  const Tensor reference = tensor_of(a, DType::f32, {kRows, kColumns});
  Tensor terms = tensor_of(b, DType::f32, {kRows, kColumns});
  terms.terms = {terms.pieces, tensor_of(c, DType::f32, {kRows, kColumns}).pieces};
  terms.pieces.clear();
  terms.term_replicas.resize(2);
  compare::Pair pair;
  pair.reference = &reference;
  pair.candidate = &terms;
  return best_reduction(pair, "tp", kAllowed);
}

TEST_CASE("TT102: parts add up, also where each rank added a bias of its own") {
  const auto plain = reduced(output(0), {0}, 0.5);
  REQUIRE(plain);
  CHECK(plain->hypothesis.residual < kAllowed);
  CHECK(plain->words == "each rank holds a part of it: the sum over tp is the reference");
  const auto biased = reduced(output(0), {0.5F, -1, 2, 0, 0.25F, 3}, 0.5);
  REQUIRE(biased);
  CHECK(biased->code == Code::partial_sum);
  CHECK(biased->hypothesis.residual < kAllowed);
  CHECK(biased->words.find("plus one vector along the last dimension") != std::string::npos);
}

TEST_CASE("what changes from row to row is no bias") {
  const auto other = reduced(output(0), output(5), 0.5);
  REQUIRE(other);
  CHECK(other->hypothesis.residual > 0.1);
}

TEST_CASE("rows that are all alike are fitted by any vector and tell nothing") {
  const auto same =
      reduced({std::vector<float>(kRows * kColumns, 1)}, {0.5F, -1, 2, 0, 0.25F, 3}, 0.5);
  REQUIRE(same);
  CHECK(same->hypothesis.residual > 0.1);
}

/// Of an output whose two parts are given.
std::optional<Explanation> reduced_to(const Shape& shape, const std::vector<double>& reference,
                                      const std::vector<double>& first,
                                      const std::vector<double>& second) {
  const ArraySource a = ArraySource::of(reference), b = ArraySource::of(first),
                    c = ArraySource::of(second);
  const Tensor whole = tensor_of(a, DType::f64, shape);
  Tensor terms = tensor_of(b, DType::f64, shape);
  terms.terms = {terms.pieces, tensor_of(c, DType::f64, shape).pieces};
  terms.pieces.clear();
  terms.term_replicas.resize(2);
  compare::Pair pair;
  pair.reference = &whole;
  pair.candidate = &terms;
  return best_reduction(pair, "tp", kAllowed);
}

TEST_CASE("a vector is told by eight rows and more, of what has rows") {
  struct Row {
    const char* what;
    Shape shape;
    bool vector;
  };
  const Row rows[] = {
      {"seven rows", {7, 3}, false}, {"eight", {8, 3}, true}, {"of three dims", {2, 4, 3}, true},
      {"eight numbers", {8}, false}, {"a scalar", {}, false},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    std::vector<double> whole, part;
    for (std::int64_t i = 0; i < element_count(row.shape); ++i) {
      whole.push_back(std::sin(static_cast<double>(i * i) + 1));
      part.push_back(whole.back() / 2 + static_cast<double>(i % 3 + 1));
    }
    const auto found = reduced_to(row.shape, whole, part, part);
    REQUIRE(found);
    CHECK((found->hypothesis.residual < kAllowed) == row.vector);
    CHECK(found->penalty == (row.vector ? 3 : 1));
    // The mean is nearer, but it is the sum that leaves a vector.
    CHECK(std::get<std::string>(found->hypothesis.parameters.back().second) ==
          (row.vector ? "sum" : "mean"));
  }
}

TEST_CASE("what is left beside a vector is relative to what is left of the reference") {
  // Columns of 2 and -2 in turn, whose mean is 0; beside a vector E and -E by two rows each:
  // sqrt(24 E^2 / (24 x 4)).
  constexpr double kE = 0x1p-18;
  std::vector<double> whole, part;
  for (int i = 0; i < 24; ++i) {
    const int row = i / 3;
    whole.push_back(row % 2 == 0 ? 2 : -2);
    part.push_back(whole.back() / 2 + 4 * (i % 3 + 1) + (row / 2 % 2 == 0 ? kE / 2 : -kE / 2));
  }
  const auto found = reduced_to({8, 3}, whole, part, part);
  REQUIRE(found);
  CHECK(found->penalty == 3);
  CHECK(found->hypothesis.residual == doctest::Approx(kE / 2).epsilon(1e-3));
}

TEST_CASE("ranges may end amid a row") {
  constexpr std::int64_t kMany = 22000;  // rows of three: ranges are of 65,536
  std::vector<double> whole, part;
  for (std::int64_t i = 0; i < kMany * 3; ++i) {
    whole.push_back(std::sin(static_cast<double>(i)));
    part.push_back(whole.back() / 2 + static_cast<double>(i % 3 + 1));
  }
  const auto found = reduced_to({kMany, 3}, whole, part, part);
  REQUIRE(found);
  CHECK(found->hypothesis.residual < kAllowed);
}

TEST_CASE("squares beyond the range of doubles tell nothing") {
  std::vector<double> whole, part(24, 1e200);
  for (int i = 0; i < 24; ++i) whole.push_back(std::sin(i));
  const auto found = reduced_to({8, 3}, whole, part, part);
  REQUIRE(found);
  CHECK(found->penalty == 1);
}

TEST_CASE("of the sum and the mean it is what leaves less, and what loses values is neither") {
  const std::vector<double> a = {1, 2, 3, 4}, b = {3, 4, 5, 6}, mean = {2, 3, 4, 5};
  const auto op_of = [](const std::optional<Explanation>& found) {
    return std::get<std::string>(found->hypothesis.parameters.back().second);
  };
  const auto averaged = reduced_to({4}, mean, a, b);
  REQUIRE(averaged);
  CHECK(op_of(averaged) == "mean");
  CHECK(averaged->hypothesis.residual == 0);
  const auto summed = reduced_to({4}, {4, 6, 8, 10}, a, b);
  REQUIRE(summed);
  CHECK(op_of(summed) == "sum");
  CHECK_FALSE(reduced_to({4}, mean, a, {3, 4, std::numeric_limits<double>::quiet_NaN(), 6}));
}

}  // namespace
}  // namespace ttcheck::explain
