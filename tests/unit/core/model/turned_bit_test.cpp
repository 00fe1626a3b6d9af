// SPDX-License-Identifier: Apache-2.0
#include "core/model/turned_bit.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace ttcheck {
namespace {

TEST_CASE("the bit that takes a stored number nearest to what it should be") {
  CHECK(turned_bit(DType::f32, -1.5, 1.5).bit == 31);
  CHECK(turned_bit(DType::bf16, std::ldexp(1.0, -32), 1.0).bit == 12);
  CHECK(turned_bit(DType::bf16, std::ldexp(1.0, -32), 1.0).left == 0);
  CHECK(turned_bit(DType::f16, 1.0009765625, 1.0).bit == 0);
  CHECK(turned_bit(DType::f16, std::numeric_limits<double>::infinity(), 1.0).left == 0);
}

TEST_CASE("a NaN still has the other bits of the number that it was") {
  CHECK(turned_bit_of(DType::f32, 0x7f9e0000, 1.234375).bit == 30);
  CHECK(turned_bit_of(DType::f32, 0x7f9e0000, 1.234375).left == 0);
  CHECK(turned_bit_of(DType::bf16, 0x7f9e, 1.234375).bit == 14);
  CHECK(turned_bit_of(DType::f32, 0x7fc00000, 1.234375).left > 0);  // one that an op made
}

}  // namespace
}  // namespace ttcheck
