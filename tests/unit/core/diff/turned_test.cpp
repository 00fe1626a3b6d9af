// SPDX-License-Identifier: Apache-2.0
#include "core/diff/turned.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tests/support/array_source.hpp"

namespace ttcheck::diff {
namespace {

using tests::ArraySource;
using tests::tensor_of;

std::optional<Finding> found(const Shape& shape, const Shape& other,
                             const std::vector<float>& held) {
  const ArraySource a = ArraySource::of<float>({1, 2, 3, 4, 5, 6});
  const ArraySource b = ArraySource::of(held);
  const Tensor reference = tensor_of(a, DType::f32, shape);
  const Tensor candidate = tensor_of(b, DType::f32, other);
  return turned_finding(reference, candidate, std::nullopt);
}

TEST_CASE("a matrix the other way round, and what only has its elements") {
  const std::vector<float> same = {1, 2, 3, 4, 5, 6};
  const auto turned = found({2, 3}, {3, 2}, {1, 4, 2, 5, 3, 6});
  REQUIRE(turned);
  CHECK(turned->code == Code::permutation);
  const auto other = found({2, 3}, {3, 2}, {6, 4, 2, 5, 3, 1});
  REQUIRE(other);
  CHECK(other->code == Code::shape_or_dtype);
  CHECK(!found({1, 6}, {6, 1}, same));  // a line lies the same way in memory
  CHECK(!found({2, 3}, {2, 3}, same));
  CHECK(!found({2, 3}, {6}, same));
}

}  // namespace
}  // namespace ttcheck::diff
