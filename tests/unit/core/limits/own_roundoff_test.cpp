// SPDX-License-Identifier: Apache-2.0
#include "core/limits/own_roundoff.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace ttcheck::limits {
namespace {

TEST_CASE("roundings of one op add up like independent ones") {
  const double eps = 0x1p-7;
  CHECK(own_roundoff(DType::bf16, 1, 0) == doctest::Approx(eps * std::sqrt(22.0 / 12)));
  CHECK(own_roundoff(DType::bf16, 0, 0) == own_roundoff(DType::bf16, 1, 0));
  CHECK(own_roundoff(DType::bf16, 4, 0) == doctest::Approx(2 * own_roundoff(DType::bf16, 1, 0)));
  CHECK(own_roundoff(DType::bf16, 1, 22) ==
        doctest::Approx(std::sqrt(2.0) * own_roundoff(DType::bf16, 1, 0)));
  CHECK(own_roundoff(DType::f16, 1, 0) == own_roundoff(DType::bf16, 1, 0) / 8);
}

TEST_CASE("two rounded factors, and of types of 16 bits alone") {
  CHECK(own_lean(DType::bf16) == 0x1p-7);
  CHECK(own_lean(DType::f16) == 0x1p-10);
  CHECK(has_own_roundoff(DType::bf16));
  CHECK(has_own_roundoff(DType::f16));
  CHECK_FALSE(has_own_roundoff(DType::f32));
  CHECK_FALSE(has_own_roundoff(DType::f8_e4m3fn));
}

}  // namespace
}  // namespace ttcheck::limits
