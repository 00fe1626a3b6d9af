// SPDX-License-Identifier: Apache-2.0
#include "core/compare/sampled.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tests/support/array_source.hpp"

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;

TEST_CASE("all of a few elements, and ranges over many") {
  CHECK(sampled_ranges(0).empty());
  REQUIRE(sampled_ranges(700).size() == 2);
  CHECK(sampled_ranges(700).back().begin == 512);
  CHECK(sampled_ranges(700).back().count == 188);
  const auto many = sampled_ranges(1 << 20);
  REQUIRE(many.size() == 32);
  CHECK(many.back().begin == 31 * (1 << 15));
  CHECK(many.back().count == 512);
}

TEST_CASE("finer stores are rounded as the coarsest") {
  const std::vector<float> fine = {1.003F, 1.005F};
  const std::vector<std::uint16_t> coarse = {0x3F80, 0x3F81};  // 1, 1 + 2^-7
  const ArraySource a = ArraySource::of(fine), b = ArraySource::of(coarse);
  const Tensor left = tensor_of(a, DType::f32, {2}), right = tensor_of(b, DType::bf16, {2});
  const Pair pair{&left, &left};
  SampledValues values(pair, &right);
  CHECK(values.reference({0, 2})[0] == 1);
  CHECK(values.candidate({0, 2})[1] == 1.0078125);
  CHECK(values.base({0, 2})[1] == 1.0078125);
}

}  // namespace
}  // namespace ttcheck::compare
