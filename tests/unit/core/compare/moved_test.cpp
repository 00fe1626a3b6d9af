// SPDX-License-Identifier: Apache-2.0
#include "core/compare/moved.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "core/compare/pair_values.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;
using Floats = std::vector<float>;

Floats drawn(std::size_t count) {
  std::mt19937 engine(3);
  Floats values(count);
  for (float& value : values) value = static_cast<float>(engine()) / 4294967296.0F - 0.5F;
  return values;
}

Sampled sampled_of(const Floats& reference, const Floats& candidate) {
  const ArraySource a = ArraySource::of(reference), b = ArraySource::of(candidate);
  const Shape shape = {static_cast<std::int64_t>(reference.size())};
  const Tensor left = tensor_of(a, DType::f32, shape), right = tensor_of(b, DType::f32, shape);
  return sampled({&left, &right});
}

Moved of(const Floats& reference, const Floats& candidate) {
  return sampled_of(reference, candidate).moved;
}

TEST_CASE("all of a small tensor: means of magnitudes, the worst run and the worst element") {
  const Floats a = {1, -1, 2, -2};
  const Moved found = of(a, {1, -1, 2.5F, -2});
  CHECK(found.distance == doctest::Approx(0.5 / 6));
  CHECK(found.spike == doctest::Approx(0.5 / std::sqrt(2.5)));
  CHECK(found.block == doctest::Approx(0.25 / std::sqrt(2.5)));
  CHECK(found.parts == 1);
  CHECK(of(a, a) == Moved{});
  CHECK(std::isinf(of({0, 0}, {0, 1}).distance));
}

TEST_CASE("of a large one a sample tells the same, wherever the differences lie") {
  const Floats a = drawn(1 << 20);
  Floats b = a;
  for (float& value : b) value *= 1.01F;
  const Moved found = of(a, b);
  CHECK(found.distance == doctest::Approx(0.01).epsilon(1e-3));
  CHECK(found.block == doctest::Approx(0.01).epsilon(0.2));
  CHECK(found.parts == 16);
}

TEST_CASE("what is not finite is left out, and no square leaves the range") {
  const float nan = std::nanf("");
  CHECK(of({1, nan, 1}, {1, 5, 1.5F}).distance == doctest::Approx(0.25));
  CHECK(of({1e-38F, 1e-38F}, {1e-38F, 2e-38F}).distance == doctest::Approx(0.5));
  CHECK(of({3e38F, -3e38F}, {3e38F, -1.5e38F}).distance == doctest::Approx(0.25));
}

TEST_CASE("a reference of one value, and what is not finite on one side alone") {
  const float nan = std::nanf(""), infinity = HUGE_VALF;
  CHECK(sampled_of({1, 1, 1}, {1, 2, 1}).constant);
  CHECK(!sampled_of({1, 2, 1}, {1, 1, 1}).constant);
  CHECK(!sampled_of({1, nan, infinity}, {2, nan, infinity}).disagrees);
  CHECK(sampled_of({1, nan}, {1, infinity}).disagrees);
  CHECK(sampled_of({1, infinity}, {1, -infinity}).disagrees);
  CHECK(sampled_of({1, 2}, {1, nan}).disagrees);
}

TEST_CASE("the finer of two stores is rounded as the coarser one was") {
  const Floats a = {1.001F, 3.003F, 0.3F};
  std::vector<std::uint16_t> rounded;
  for (const float value : a) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    rounded.push_back(static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16));
  }
  const ArraySource fine = ArraySource::of(a), coarse = ArraySource::of(rounded);
  const Tensor left = tensor_of(fine, DType::f32, {3}), right = tensor_of(coarse, DType::bf16, {3});
  CHECK(sampled({&left, &right}).moved == Moved{});
  CHECK(sampled({&right, &left}).moved == Moved{});
}

TEST_CASE("ranges of a pair as doubles, of tensors that hold them") {
  const ArraySource source = ArraySource::of(Floats{1, 2, 3});
  const Tensor held = tensor_of(source, DType::f32, {3});
  Tensor absent = held;
  absent.stored = false;
  CHECK(has_real_values({&held, &held}));
  CHECK(!has_real_values({&held, &absent}));
  const Pair pair{&held, &held};
  PairValues values(pair);
  CHECK(values.reference(0, 2)[1] == 2);
  CHECK(values.candidate(0, 3)[2] == 3);
}

}  // namespace
}  // namespace ttcheck::compare
