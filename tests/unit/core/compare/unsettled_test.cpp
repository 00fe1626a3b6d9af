#include "core/compare/unsettled.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/array_source.hpp"

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;

/// A parameter of four elements and its gradient; the last two gradients are noise.
struct Update {
  ArraySource a, b, slope_a, slope_b;
  Tensor reference, candidate, gradient, other;

  Update(const std::vector<float>& p, const std::vector<float>& q, float noise = 1e-9F)
      : a(ArraySource::of(p)),
        b(ArraySource::of(q)),
        slope_a(ArraySource::of<float>({1, -1, noise, -1e-9F})),
        slope_b(ArraySource::of<float>({1, -1, -1e-9F, noise})),
        reference(tensor_of(a, DType::f32, {4})),
        candidate(tensor_of(b, DType::f32, {4})),
        gradient(tensor_of(slope_a, DType::f32, {4})),
        other(tensor_of(slope_b, DType::f32, {4})) {}

  std::optional<Unsettled> look(double step) const {
    return unsettled({&reference, &candidate}, {&gradient, &other}, {1e-5, step}, 1e-6);
  }
};

TEST_CASE("elements whose gradient is noise are set apart, up to the step") {
  const Update update({1, 2, 3, 4}, {1, 2, 3.002F, 3.998F});
  const auto found = update.look(0.0021);
  REQUIRE(found);
  CHECK(found->set_apart == 2);
  CHECK(found->largest == doctest::Approx(0.002).epsilon(1e-4));
  CHECK(found->rel == 0);
  CHECK(found->outlier == 0);
}

TEST_CASE("a step that is too long is not set apart") {
  const auto found = Update({1, 2, 3, 4}, {1, 2, 3.002F, 4}).look(0.0019);
  REQUIRE(found);
  CHECK(found->set_apart == 0);
  CHECK(found->rel == doctest::Approx(0.002 / std::sqrt(30.0)).epsilon(1e-3));
}

TEST_CASE("an element with a gradient is held to the limit") {
  const auto found = Update({1, 2, 3, 4}, {1.001F, 2, 3.001F, 4}).look(0.01);
  REQUIRE(found);
  CHECK(found->set_apart == 1);
  CHECK(found->outlier == doctest::Approx(0.001 / std::sqrt(7.5)).epsilon(1e-3));
}

TEST_CASE("both sides' gradients must be noise") {
  const auto found = Update({1, 2, 3, 4}, {1, 2, 3.001F, 4}, 0.1F).look(0.01);
  REQUIRE(found);
  CHECK(found->set_apart == 0);
}

TEST_CASE("a gradient of another shape says nothing") {
  Update update({1, 2, 3, 4}, {1, 2, 3.001F, 4});
  update.gradient.shape = {2, 2};
  CHECK_FALSE(update.look(1));
}

}  // namespace
}  // namespace ttcheck::compare
