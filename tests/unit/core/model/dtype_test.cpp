// SPDX-License-Identifier: Apache-2.0
#include "core/model/dtype.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/model/decode.hpp"

namespace ttcheck {
namespace {

/// All that is not NaN of a real type of at most 16 bits.
std::vector<double> numbers_of(DType dtype) {
  std::vector<double> numbers;
  for (std::uint64_t code = 0; code < std::uint64_t{1} << bits(dtype); ++code) {
    const double value = value_of(dtype, code);
    if (!std::isnan(value)) numbers.push_back(value);
  }
  return numbers;
}

TEST_CASE("each number of a small type comes back from the types that hold all of them") {
  for (const DTypeInfo& other : kDTypes) {
    if (other.bits > 16 || is_complex(other.dtype)) continue;
    const std::vector<double> numbers = numbers_of(other.dtype);
    for (const DTypeInfo& wide : kDTypes) {
      INFO(std::string(wide.name), " for ", std::string(other.name));
      const DType part = part_of(wide.dtype);
      bool all = true;
      for (std::size_t i = 0; all && i < numbers.size(); ++i) {
        all = value_of(part, code_of(part, numbers[i])) == numbers[i];
      }
      CHECK(holds_all_of(wide.dtype, other.dtype) == all);
    }
  }
}

TEST_CASE("a type holds all of another one where no number of it is lost") {
  for (const DTypeInfo& row : kDTypes) CHECK(holds_all_of(row.dtype, row.dtype));
  using enum DType;
  CHECK(holds_all_of(f32, bf16));
  CHECK(holds_all_of(f32, f16));
  CHECK(holds_all_of(bf16, f8_e5m2));
  CHECK(holds_all_of(bf16, f8_e8m0));
  CHECK(holds_all_of(f64, i32));
  CHECK(holds_all_of(f32, u16));
  CHECK(holds_all_of(i16, u8));
  CHECK(holds_all_of(c64, f32));
  CHECK(holds_all_of(u8, boolean));
  CHECK_FALSE(holds_all_of(bf16, f16));
  CHECK_FALSE(holds_all_of(f16, bf16));
  CHECK_FALSE(holds_all_of(f32, i64));
  CHECK_FALSE(holds_all_of(f32, i32));
  CHECK_FALSE(holds_all_of(u32, i8));
  CHECK_FALSE(holds_all_of(i8, u8));
  CHECK_FALSE(holds_all_of(i64, f16));
  CHECK_FALSE(holds_all_of(boolean, u8));
  CHECK_FALSE(holds_all_of(f8_e4m3fn, f8_e5m2));
  CHECK_FALSE(holds_all_of(f8_e5m2, f8_e4m3fn));
  CHECK_FALSE(holds_all_of(f8_e4m3fnuz, f8_e4m3fn));
  CHECK_FALSE(holds_all_of(f64, c32));
  CHECK(holds_all_of(c64, c32));
  CHECK(holds_all_of(c128, f64));
  CHECK(holds_all_of(c128, c64));
  CHECK(holds_all_of(c64, i16));
  CHECK(holds_all_of(f64, u32));
  CHECK(holds_all_of(u64, u32));
  CHECK(holds_all_of(i64, i32));
  CHECK(holds_all_of(i64, u32));
  CHECK_FALSE(holds_all_of(i32, u32));
  CHECK_FALSE(holds_all_of(u32, i32));
  CHECK_FALSE(holds_all_of(f64, i64));
  CHECK_FALSE(holds_all_of(c64, f64));
  CHECK_FALSE(holds_all_of(c32, c64));
}

}  // namespace
}  // namespace ttcheck
