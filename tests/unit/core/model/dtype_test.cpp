#include "core/model/dtype.hpp"

#include <doctest/doctest.h>

namespace ttcheck {
namespace {

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
}

}  // namespace
}  // namespace ttcheck
