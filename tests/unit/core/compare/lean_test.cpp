// SPDX-License-Identifier: Apache-2.0
#include "core/compare/lean.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

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

std::optional<Lean> of(const Floats& reference, const Floats& candidate) {
  const ArraySource a = ArraySource::of(reference), b = ArraySource::of(candidate);
  const Shape shape = {static_cast<std::int64_t>(reference.size())};
  const Tensor left = tensor_of(a, DType::f32, shape), right = tensor_of(b, DType::f32, shape);
  return lean_of({&left, &right});
}

TEST_CASE("what most values are off by, in small tensors and in a sample of large ones") {
  for (const std::size_t count : {std::size_t{256}, std::size_t{1} << 20}) {
    const Floats a = drawn(count);
    Floats smaller = a, larger = a;
    for (std::size_t i = 0; i < count; ++i) {
      smaller[i] *= 0.99F;
      larger[i] *= 1.5F;
    }
    CHECK(of(a, smaller)->median == doctest::Approx(-0.01).epsilon(1e-4));
    CHECK(of(a, smaller)->sure == doctest::Approx(-0.01).epsilon(1e-4));
    CHECK(of(a, larger)->sure == doctest::Approx(0.5));
    CHECK(of(a, a)->median == 0);
  }
}

TEST_CASE("noise leaves nothing that is sure, and a few large elements do not count") {
  const Floats a = drawn(1 << 14), noise = drawn((1 << 14) + 1);
  Floats b = a;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] *= 1 + 0.5F * noise[i + 1];
  CHECK(of(a, b)->sure == 0);
  CHECK(std::abs(of(a, b)->median) < 0.02);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = i < 64 ? 1000 * a[i] : a[i];
  CHECK(of(a, b)->median == 0);
}

TEST_CASE("of what is spread wide the rank that is sure counts") {
  Floats a(400, 1), b(400);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 2 + static_cast<float>(i) / 1024;
  // Half of 5 x sqrt(400) ranks beside the middle.
  CHECK(of(a, b)->median == 1 + 200.0 / 1024);
  CHECK(of(a, b)->sure == 1 + 150.0 / 1024);
}

TEST_CASE("zeros and what is not finite do not count, and few values tell nothing") {
  Floats a = drawn(256), b = a;
  for (float& value : b) value *= 2;
  CHECK(of(a, b)->median == 1);
  a[7] = 0;
  CHECK_FALSE(of(a, b));
  a.push_back(1);
  b.push_back(2);
  CHECK(of(a, b)->sure == 1);
  b[9] = std::nanf("");
  CHECK_FALSE(of(a, b));
}

}  // namespace
}  // namespace ttcheck::compare
