// SPDX-License-Identifier: Apache-2.0
#include "core/compare/partial_sums.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "tests/support/array_source.hpp"

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;

TEST_CASE("partial sums go up by terms of one sign and down by others") {
  const ArraySource apart = ArraySource::of<float>({1, -1, 1, -1}),
                    together = ArraySource::of<float>({1, 1, -1, -1});
  const auto by_turns = partial_sums(tensor_of(apart, DType::f32, {4, 1}), 1);
  const auto in_row = partial_sums(tensor_of(together, DType::f32, {4, 1}), 1);
  REQUIRE(by_turns);
  REQUIRE(in_row);
  CHECK(by_turns->sums == 2);  // 1 0 1 0
  CHECK(in_row->sums == 6);    // 1 2 1 0
  CHECK(by_turns->terms == 4);
  CHECK(in_row->terms == 4);
}

TEST_CASE("each channel is added up by itself, along the last dim or behind the batch") {
  const ArraySource values = ArraySource::of<float>({1, 10, 2, 20});
  const auto rows = partial_sums(tensor_of(values, DType::f32, {2, 2}), 2);
  REQUIRE(rows);
  CHECK(rows->sums == 1 + 9 + 100 + 900);
  const ArraySource images = ArraySource::of<float>({1, 2, 3, 10, 20, 30});
  const auto pixels = partial_sums(tensor_of(images, DType::f32, {1, 2, 3}), 2);
  REQUIRE(pixels);
  CHECK(pixels->sums == 1 + 9 + 36 + 100 + 900 + 3600);
}

TEST_CASE("nothing is known of other extents, and of values that are not finite or not there") {
  const ArraySource values = ArraySource::of<float>({1, std::numeric_limits<float>::infinity()});
  CHECK_FALSE(partial_sums(tensor_of(values, DType::f32, {1, 2}), 2));
  CHECK_FALSE(partial_sums(tensor_of(values, DType::f32, {1, 2}), 3));
  Tensor told = tensor_of(values, DType::f32, {1, 2});
  told.stored = false;
  CHECK_FALSE(partial_sums(told, 2));
}

}  // namespace
}  // namespace ttcheck::compare
