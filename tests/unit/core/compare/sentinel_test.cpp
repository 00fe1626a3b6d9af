// SPDX-License-Identifier: Apache-2.0
#include "core/compare/sentinel.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/compare/compare.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;

using Floats = std::vector<float>;

constexpr float kLeast = std::numeric_limits<float>::lowest();

Floats drawn(std::size_t count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  Floats values(count);
  for (float& value : values) {
    value = static_cast<float>(engine()) / 4294967296.0F * 6 - 3;  // scores between -3 and 3
  }
  return values;
}

/// Every `stride`-th score with `mask` added.
Floats masked(Floats scores, float mask, std::size_t stride = 2) {
  for (std::size_t i = 0; i < scores.size(); i += stride) scores[i] += mask;
  return scores;
}

std::optional<Sentinel> found(const Floats& reference, const Floats& candidate,
                              double limit = 1e-2) {
  const ArraySource a = ArraySource::of(reference), b = ArraySource::of(candidate);
  const Shape shape = {static_cast<std::int64_t>(reference.size())};
  const Tensor left = tensor_of(a, DType::f32, shape), right = tensor_of(b, DType::f32, shape);
  const Pair pair{&left, &right};
  const auto compared = compare(std::span(&pair, 1), {});
  return find_sentinel(pair, compared.front().metrics, limit);
}

TEST_CASE("F1: a mask's value is told, and what other scores are apart") {
  for (const std::size_t count : {64UL, 4'096UL, 200'000UL}) {
    for (const float mask : {kLeast, -1e9F, -1e4F}) {
      CAPTURE(count);
      CAPTURE(mask);
      const auto one = found(masked(drawn(count, 1), mask), masked(drawn(count, 2), mask));
      REQUIRE(one);
      CHECK(one->count == static_cast<std::int64_t>(count) / 2);
      CHECK(one->value == doctest::Approx(mask).epsilon(1e-3));
      CHECK(one->rel == doctest::Approx(std::sqrt(2)).epsilon(0.3));
      CHECK(one->outlier > 0.5);
    }
  }
}

TEST_CASE("F1: the rest's error is that of the rest alone, wherever the value lies") {
  for (const std::size_t stride : {2UL, 50UL, 100'000UL}) {
    Floats scores = drawn(300'000, 3), other = scores;
    other[7] += 0.5F;
    double sum = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (i % stride != 0) sum += static_cast<double>(scores[i]) * scores[i];
    }
    const auto one = found(masked(scores, 1e30F, stride), masked(other, 1e30F, stride));
    CAPTURE(stride);
    REQUIRE(one);
    CHECK(one->value == 1e30F);
    CHECK(one->rel == doctest::Approx(0.5 / std::sqrt(sum)).epsilon(1e-6));
  }
}

TEST_CASE("no sentinel: other norms, other places, values beside one, nothing but the value") {
  const Floats scores = drawn(4'096, 4), other = drawn(4'096, 5);
  CHECK(!found(scores, other));
  CHECK(!found(masked(scores, -20), masked(other, -20)));  // the limit would see the rest
  CHECK(!found(masked(scores, kLeast, 2), masked(other, kLeast, 3)));
  CHECK(!found(Floats(64, -1e9F), Floats(64, -1e9F)));
  Floats shares(4'096, 1e-5F);  // a saturated softmax
  for (std::size_t i = 0; i < shares.size(); i += 8) shares[i] = 1;
  Floats apart = shares;
  apart[1] = 2e-5F;
  CHECK(!found(shares, apart));
  Floats massive = scores;  // activations of several sizes
  massive[5] = 2'400;
  massive[9] = -1'500;
  CHECK(!found(massive, other));
  Floats both = masked(scores, -1e9F);  // of either sign
  both[1] = 1e9F;
  CHECK(!found(both, both));
}

TEST_CASE("what is not finite is no sentinel and no part of the rest") {
  Floats scores = masked(drawn(4'096, 6), -1e9F);
  scores[1] = std::numeric_limits<float>::infinity();
  Floats other = scores;
  other[3] += 1;
  const auto one = found(scores, other);
  REQUIRE(one);
  CHECK(one->value == -1e9F);
  CHECK(one->rel < 1);
}

}  // namespace
}  // namespace ttcheck::compare
