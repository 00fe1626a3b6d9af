// SPDX-License-Identifier: Apache-2.0
#include "core/compare/hash.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "core/base/error.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;

constexpr std::int64_t kLong = 300'000;  // more than one range of float32

TEST_CASE("hashes are those of the xxhash library's own binding over the same bytes") {
  std::vector<float> values(kLong);
  std::iota(values.begin(), values.end(), 0.0F);
  const ArraySource rising = ArraySource::of(values);
  CHECK(hash_of(tensor_of(rising, DType::f32, {1000, 300})).text == "xxh3:22382a5edfd67869");
  const ArraySource sevens = ArraySource::of(std::vector<float>(kLong, 7.0F));
  CHECK(hash_of(tensor_of(sevens, DType::f32, {kLong})).text == "xxh3:84d2e5835c12e165");
  const ArraySource none = ArraySource::of(std::vector<float>());
  CHECK(hash_of(tensor_of(none, DType::f32, {0, 4})).text == "xxh3:2d06800538d394c2");
}

TEST_CASE("a constant tensor is told, one that changes in its last element is none") {
  std::vector<float> values(kLong, 7.0F);
  const ArraySource constant = ArraySource::of(values);
  CHECK(hash_of(tensor_of(constant, DType::f32, {kLong})).constant);
  values.back() = 8.0F;
  const ArraySource last = ArraySource::of(values);
  CHECK_FALSE(hash_of(tensor_of(last, DType::f32, {kLong})).constant);
}

TEST_CASE("what has holes or cannot be read has no hash") {
  ArraySource source = ArraySource::of(std::vector<float>(kLong, 7.0F));
  source.broken_from = 1'100'000;
  source.broken_to = 1'100'001;
  Tensor tensor = tensor_of(source, DType::f32, {kLong});
  CHECK_THROWS_AS(static_cast<void>(hash_of(tensor)), Error);
  source.broken_to = 0;
  tensor.holes.push_back({{0}, {1}});
  CHECK_THROWS_AS(static_cast<void>(hash_of(tensor)), Error);
}

}  // namespace
}  // namespace ttcheck::compare
