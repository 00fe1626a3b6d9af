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

}  // namespace
}  // namespace ttcheck
