// SPDX-License-Identifier: Apache-2.0
#include "core/compare/gated.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/support/array_source.hpp"

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;

/// Values and gradients of both sides, of two rows.
struct Relu {
  ArraySource va, vb, ga, gb;
  Tensor values, other_values, gradient, other_gradient;

  Relu(const std::vector<float>& v, const std::vector<float>& w, const std::vector<float>& g,
       const std::vector<float>& h)
      : va(ArraySource::of(v)),
        vb(ArraySource::of(w)),
        ga(ArraySource::of(g)),
        gb(ArraySource::of(h)),
        values(of(va)),
        other_values(of(vb)),
        gradient(of(ga)),
        other_gradient(of(gb)) {}

  static Tensor of(const ArraySource& source) { return tensor_of(source, DType::f32, {2, 3}); }

  std::optional<Gated> look() const {
    return gated({&values, &other_values}, {&gradient, &other_gradient});
  }
};

TEST_CASE("a gate that is open on one side alone makes all of its gradient differ") {
  const Relu relu({1, -1, 1e-6F, 2, -1e-6F, 1}, {1, -1, -1e-6F, 2, 1e-6F, 1}, {3, 0, 4, 1, 0, 1},
                  {3, 0, 0, 1, 2, 1});
  const auto gate = relu.look();
  REQUIRE(gate);
  CHECK(gate->turned == 2);
  CHECK(gate->rel == doctest::Approx(std::sqrt(20.0 / 27)));
  CHECK(gate->row == doctest::Approx(4 / std::sqrt(27.0 / 2)));
  CHECK(gate->outlier == doctest::Approx(4 / std::sqrt(27.0 / 6)));
}

TEST_CASE("what differs behind gates that are open on both sides is not theirs") {
  const Relu relu({1, 1, 1, 1, -1, 1}, {1, 1, 1, 1, -1, 1}, {1, 1, 1, 1, 0, 1}, {9, 1, 0, 1, 0, 1});
  const auto gate = relu.look();
  REQUIRE(gate);
  CHECK(gate->turned == 0);
  CHECK(gate->rel == 0);
}

TEST_CASE("a gradient that is there where the value is not positive stands behind no gate") {
  CHECK_FALSE(
      Relu({1, 0, 1, 1, 1, 1}, {1, 0, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}, {1, 0, 1, 1, 1, 1}).look());
  CHECK_FALSE(
      Relu({1, 0, 1, 1, 1, 1}, {1, 0, 1, 1, 1, 1}, {1, 0, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}).look());
}

TEST_CASE("a gate is told from all of a tensor, not from its first elements") {
  std::vector<float> values(200'000, 1), slope(200'000, 1);
  values[150'000] = -1;
  const ArraySource v = ArraySource::of(values), g = ArraySource::of(slope);
  const Tensor value = tensor_of(v, DType::f32, {200'000});
  const Tensor gradient = tensor_of(g, DType::f32, {200'000});
  CHECK_FALSE(gated({&value, &value}, {&gradient, &gradient}));
  slope[150'000] = 0;
  const ArraySource closed = ArraySource::of(slope);
  const Tensor behind = tensor_of(closed, DType::f32, {200'000});
  CHECK(gated({&value, &value}, {&behind, &behind}));
}

TEST_CASE("other shapes are no gate's") {
  const Relu relu({1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1});
  Tensor flat = relu.values;
  flat.shape = {6};
  CHECK_FALSE(gated({&flat, &flat}, {&relu.gradient, &relu.other_gradient}));
}

}  // namespace
}  // namespace ttcheck::compare
