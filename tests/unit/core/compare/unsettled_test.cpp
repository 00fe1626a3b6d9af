// SPDX-License-Identifier: Apache-2.0
#include "core/compare/unsettled.hpp"

#include <doctest/doctest.h>

#include <algorithm>
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

  std::optional<Unsettled> look(double step, const SetApart* before = nullptr) const {
    const Pair slope{&gradient, &other};
    return unsettled({&reference, &candidate}, &slope, {1e-6, 1e-5, step, before});
  }
};

TEST_CASE("elements whose gradient is noise are set apart, up to the step") {
  const Update update({1, 2, 3, 4}, {1, 2, 3.002F, 3.998F});
  const auto found = update.look(0.0021);
  REQUIRE(found);
  REQUIRE(found->apart.size() == 2);
  CHECK(found->apart.at(2) == doctest::Approx(0.002).epsilon(1e-3));
  CHECK(found->apart.at(3) == doctest::Approx(-0.002).epsilon(1e-3));
  CHECK(found->rel == 0);
  CHECK(found->outlier == 0);
}

TEST_CASE("an element without any gradient takes no step") {
  const ArraySource none = ArraySource::of<float>({0, 0});
  const ArraySource a = ArraySource::of<float>({1, 2}), b = ArraySource::of<float>({1.002F, 2});
  const Tensor reference = tensor_of(a, DType::f32, {2}), candidate = tensor_of(b, DType::f32, {2});
  const Tensor slope = tensor_of(none, DType::f32, {2});
  const Pair gradient{&slope, &slope};
  const auto found = unsettled({&reference, &candidate}, &gradient, {1e-6, 1e-5, 0.0021, nullptr});
  REQUIRE(found);
  CHECK(found->apart.empty());
}

TEST_CASE("a step that is too long is not set apart") {
  const auto found = Update({1, 2, 3, 4}, {1, 2, 3.002F, 4}).look(0.0019);
  REQUIRE(found);
  CHECK(found->apart.empty());
  CHECK(found->rel == doctest::Approx(0.002 / std::sqrt(30.0)).epsilon(1e-3));
}

TEST_CASE("a gradient that is noise of its terms may have had another sign before") {
  // Both sides have the same noise now, and all of the gradient is.
  const ArraySource a = ArraySource::of<float>({1, 2}), b = ArraySource::of<float>({1.002F, 2});
  const ArraySource noise = ArraySource::of<float>({1e-9F, 2e-9F});
  const ArraySource less = ArraySource::of<float>({1.1e-9F, 2e-9F});
  const Tensor reference = tensor_of(a, DType::f32, {2}), candidate = tensor_of(b, DType::f32, {2});
  const Tensor gradient = tensor_of(noise, DType::f32, {2}),
               other = tensor_of(less, DType::f32, {2});
  const Pair slope{&gradient, &other};
  const auto apart = [&](double terms, double zero) {
    const double usual = std::max(1.6e-9, terms);
    const NoiseRule rule{1e-6, 1e-5 * usual, 0.0021, nullptr, zero * usual, 0.0021};
    return unsettled({&reference, &candidate}, &slope, rule)->apart.size();
  };
  CHECK(apart(0, 0) == 0);
  CHECK(apart(1, 0) == 0);     // a tenth of a step at most
  CHECK(apart(1, 1e-6) == 1);  // a whole one
  CHECK(apart(1, 1e-10) == 0);
}

TEST_CASE("both sides may round what they store") {
  const ArraySource a = ArraySource::of<std::uint16_t>({0x3F80, 0x4049});  // 1, 3.140625
  const ArraySource b = ArraySource::of<std::uint16_t>({0x3F80, 0x404C});  // 1, 3.1875
  const ArraySource one = ArraySource::of<float>({1, 1e-9F});
  const ArraySource other = ArraySource::of<float>({1, -1e-9F});
  const Tensor reference = tensor_of(a, DType::bf16, {2}),
               candidate = tensor_of(b, DType::bf16, {2});
  const Tensor gradient = tensor_of(one, DType::f32, {2}),
               turned = tensor_of(other, DType::f32, {2});
  const Pair slope{&gradient, &turned};
  const auto apart = [&](double step) {  // 3/64 apart, of which 0.0247 may be rounding
    return unsettled({&reference, &candidate}, &slope, {1e-6, 1e-3, step, nullptr})->apart.size();
  };
  CHECK(apart(0.0225) == 1);
  CHECK(apart(0.022) == 0);
}

TEST_CASE("an element with a gradient is held to the limit") {
  const auto found = Update({1, 2, 3, 4}, {1.001F, 2, 3.001F, 4}).look(0.01);
  REQUIRE(found);
  CHECK(found->apart.size() == 1);
  CHECK(found->outlier == doctest::Approx(0.001 / std::sqrt(7.5)).epsilon(1e-3));
}

TEST_CASE("both sides' gradients must be noise, and not the same") {
  CHECK(Update({1, 2, 3, 4}, {1, 2, 3.001F, 4}, 0.1F).look(0.01)->apart.empty());
  CHECK(Update({1, 2, 3, 4}, {1, 2, 3.001F, 4}, -1e-9F).look(0.01)->apart.empty());
  CHECK(Update({1, 2, 3, 4}, {1, 2, 3.001F, 4}, -0.9e-9F).look(0.0099)->apart.empty());
  CHECK(Update({1, 2, 3, 4}, {1, 2, 3.001F, 4}, -0.9e-9F).look(0.0101)->apart.size() == 1);
}

TEST_CASE("a gradient may be more than noise where the sides differ in no more of it") {
  const ArraySource a = ArraySource::of<float>({1, 2, 3, 4}),
                    b = ArraySource::of<float>({1, 2, 3.0001F, 4});
  const ArraySource one = ArraySource::of<float>({1, -1, 1e-3F, 1});
  const ArraySource other = ArraySource::of<float>({1, -1, 1.005e-3F, 1});  // 0.5 % of an element
  const Tensor reference = tensor_of(a, DType::f32, {4}), candidate = tensor_of(b, DType::f32, {4});
  const Tensor gradient = tensor_of(one, DType::f32, {4}),
               turned = tensor_of(other, DType::f32, {4});
  const Pair slope{&gradient, &turned};
  const auto apart = [&](double step, double noise) {
    const NoiseRule rule{1e-6, noise * 0.87, step, nullptr};
    return unsettled({&reference, &candidate}, &slope, rule)->apart.size();
  };
  CHECK(apart(0.0202, 1e-5) == 1);  // 0.00498 of a step of 0.0202 is 0.0001006
  CHECK(apart(0.0199, 1e-5) == 0);
  CHECK(apart(0.0202, 1e-6) == 0);
}

TEST_CASE("what stood apart may stay so, element by element, also without a gradient") {
  const Update update({1, 2, 3, 4}, {1, 2.001F, 3.001F, 4});
  const SetApart before = {{1, 0.001}};
  const auto found =
      unsettled({&update.reference, &update.candidate}, nullptr, {1e-6, 1e-5, 1, &before});
  REQUIRE(found);
  CHECK(found->apart.size() == 1);
  CHECK(found->apart.contains(1));
  CHECK(found->rel > 1e-4);
}

TEST_CASE("what stood apart may go on by a step, as its moments do") {
  const Update update({1, 2, 3, 4}, {1.003F, 2.003F, 3, 4});  // whose gradients are the same
  const SetApart before = {{1, 0.001}};
  CHECK(update.look(0.0021, &before)->apart.size() == 1);
  CHECK(update.look(0.0019, &before)->apart.empty());
}

TEST_CASE("what stood apart stays set apart where it is within the outlier limit by itself") {
  const Update update({1, 2, 3, 4}, {1, 2.001F, 3, 4});
  const SetApart before = {{1, 0.002}};
  const auto found =
      unsettled({&update.reference, &update.candidate}, nullptr, {0.1, 1e-5, 1, &before});
  REQUIRE(found);
  CHECK(found->apart.contains(1));
  CHECK(found->rel == 0);
}

TEST_CASE("a bias is taken off along the last dim; what is left is an error") {
  const ArraySource a = ArraySource::of<float>({1, 2, 3, 4, 5, 6});
  const ArraySource b = ArraySource::of<float>({1, 2.5F, 3, 4, 5.5F, 6});
  const ArraySource c = ArraySource::of<float>({1, 2.5F, 3.5F, 4, 5.5F, 6});
  const Tensor out = tensor_of(a, DType::f32, {2, 3});
  const Tensor shifted = tensor_of(b, DType::f32, {2, 3});
  const Tensor wrong = tensor_of(c, DType::f32, {2, 3});
  const SetApart bias = {{1, 0.5}};
  CHECK(less_bias({&out, &shifted}, bias, 3)->rel == 0);
  CHECK(less_bias({&out, &wrong}, bias, 3)->rel == doctest::Approx(0.5 / std::sqrt(91.0)));
  CHECK_FALSE(less_bias({&out, &shifted}, bias, 2));
  // What updates that nobody recorded moved on is told by the channels' means, as far as it may be.
  CHECK(less_bias({&out, &shifted}, {}, 3)->rel > 0);
  CHECK(less_bias({&out, &shifted}, {}, 3, 10)->rel < 1e-7);
  CHECK(less_bias({&out, &shifted}, {}, 3, 1e-3)->rel > 1e-3);
  CHECK(less_bias({&out, &wrong}, {}, 3, 10)->rel > 1e-3);
  // Two images of one pixel each way around: channels lie behind the batch.
  const ArraySource image = ArraySource::of<float>({1, 2, 3, 4, 5, 6, 7, 8});
  const ArraySource moved = ArraySource::of<float>({1.5F, 2.5F, 3, 4, 5.5F, 6.5F, 7, 8});
  const Tensor images = tensor_of(image, DType::f32, {2, 2, 1, 2});
  const Tensor other_images = tensor_of(moved, DType::f32, {2, 2, 1, 2});
  CHECK(less_bias({&images, &other_images}, {{0, 0.5}}, 2)->rel > 0);  // along the last dim
  const Tensor wide = tensor_of(image, DType::f32, {1, 2, 1, 4});
  const ArraySource first = ArraySource::of<float>({1.5F, 2.5F, 3.5F, 4.5F, 5, 6, 7, 8});
  const Tensor other_wide = tensor_of(first, DType::f32, {1, 2, 1, 4});
  CHECK(less_bias({&wide, &other_wide}, {{0, 0.5}}, 2)->rel == 0);
  CHECK(less_bias({&wide, &other_wide}, {{1, 0.5}}, 2)->rel > 0);
  CHECK(less_bias({&wide, &other_wide}, {}, 2, 1)->rel == 0);
}

TEST_CASE("a gradient of another shape says nothing") {
  Update update({1, 2, 3, 4}, {1, 2, 3.001F, 4});
  update.gradient.shape = {2, 2};
  CHECK_FALSE(update.look(1));
}

TEST_CASE("an update remembers the gradients of the step before") {
  const ArraySource a = ArraySource::of<float>({1, 2}), b = ArraySource::of<float>({1.002F, 2});
  const ArraySource now = ArraySource::of<float>({1, 1});
  const ArraySource up = ArraySource::of<float>({1, 1}), down = ArraySource::of<float>({-0.1F, 1});
  const Tensor reference = tensor_of(a, DType::f32, {2}), candidate = tensor_of(b, DType::f32, {2});
  const Tensor slope = tensor_of(now, DType::f32, {2});
  const Tensor then_a = tensor_of(up, DType::f32, {2}), then_b = tensor_of(down, DType::f32, {2});
  const Pair gradient{&slope, &slope}, earlier{&then_a, &then_b};
  NoiseRule rule{1e-6, 1e-5, 0.0021};
  CHECK(unsettled({&reference, &candidate}, &gradient, rule)->apart.empty());
  rule.earlier = &earlier;
  const auto found = unsettled({&reference, &candidate}, &gradient, rule);
  REQUIRE(found);
  CHECK(found->apart.size() == 1);
  CHECK(found->rel == 0);
}

}  // namespace
}  // namespace ttcheck::compare
