// SPDX-License-Identifier: Apache-2.0
#include "core/compare/one_bit.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include "tests/support/array_source.hpp"

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;
using Floats = std::vector<float>;

std::optional<int> bit(const Floats& reference, const Floats& candidate, std::int64_t index) {
  const ArraySource a = ArraySource::of(reference), b = ArraySource::of(candidate);
  const Shape shape = {static_cast<std::int64_t>(reference.size())};
  const Tensor left = tensor_of(a, DType::f32, shape), right = tensor_of(b, DType::f32, shape);
  return one_bit_apart({&left, &right}, index);
}

TEST_CASE("a flipped bit, wherever it is") {
  const Floats values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1.25F};
  Floats other = values;
  other[9] = 1.5F;  // 0x3fa00000, 0x3fc00000
  other[2] = 3.5F;
  other[3] = -4;
  CHECK(!bit(values, other, 9));
  CHECK(bit(values, other, 2) == 21);
  CHECK(bit(values, other, 3) == kSignBit);
  CHECK(!bit(values, other, -1));
}

}  // namespace
}  // namespace ttcheck::compare
