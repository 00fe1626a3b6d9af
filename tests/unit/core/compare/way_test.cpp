// SPDX-License-Identifier: Apache-2.0
#include "core/compare/way.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "core/compare/pair_values.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;
using Floats = std::vector<float>;

std::optional<WaySince> of(const Floats& reference, const Floats& candidate, const Floats& base) {
  const ArraySource a = ArraySource::of(reference), b = ArraySource::of(candidate),
                    c = ArraySource::of(base);
  const Shape shape = {static_cast<std::int64_t>(reference.size())};
  const Tensor left = tensor_of(a, DType::f32, shape), right = tensor_of(b, DType::f32, shape),
               ancestor = tensor_of(c, DType::f32, shape);
  return way({&left, &right}, ancestor);
}

TEST_CASE("how far both came, and what part of it lies between them") {
  const auto found = of({3, 4}, {3, 6}, {0, 0});
  REQUIRE(found);
  CHECK(found->apart == doctest::Approx(2.0 / 9));
  CHECK(found->gone == doctest::Approx(9.0 / 7));
  CHECK(found->further == doctest::Approx((45.0 - 25) / (2 * 2 * std::sqrt(45.0))));
  CHECK(found->along == doctest::Approx(8.0 / (2 * 5)));
  CHECK(found->longest == doctest::Approx(4 / std::sqrt(12.5)));
}

TEST_CASE("two that came equally far have no direction, whatever the angle") {
  CHECK(of({1, 2}, {2, 1}, {0, 0})->further == doctest::Approx(0));
  CHECK(of({2, 1}, {1, 1}, {1, 1})->further == doctest::Approx(-0.5));  // one that stayed
}

TEST_CASE("neither left, or nothing to measure by: no way") {
  CHECK(!of({1, 2}, {1, 2}, {1, 2}));
  CHECK(!of({0, 0}, {1, 0}, {0, 0}));
  const float nan = std::nanf("");
  CHECK(of({1, nan, 1}, {1, 2, 2}, {0, 0, nan})->apart == 0);
  CHECK(of({3e38F, -3e38F}, {3e38F, -1.5e38F}, {0, 0})->apart == doctest::Approx(0.25));
}

}  // namespace
}  // namespace ttcheck::compare
