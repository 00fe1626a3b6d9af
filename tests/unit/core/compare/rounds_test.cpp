// SPDX-License-Identifier: Apache-2.0
#include "core/compare/rounds.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "core/model/decode.hpp"

namespace ttcheck::compare {
namespace {

TEST_CASE("a dtype rounds another one when it lacks digits or range, in the same class") {
  struct Row {
    DType from, to;
    bool expected;
  };
  for (const Row& row : std::vector<Row>{{DType::f32, DType::f32, false},
                                         {DType::f32, DType::bf16, true},
                                         {DType::bf16, DType::f32, false},
                                         {DType::f32, DType::f16, true},
                                         {DType::f16, DType::f32, false},
                                         {DType::bf16, DType::f16, true},  // small numbers
                                         {DType::f16, DType::bf16, true},  // digits
                                         {DType::f64, DType::f32, true},
                                         {DType::f32, DType::f64, false},
                                         {DType::f16, DType::f8_e5m2, true},
                                         {DType::f8_e5m2, DType::f16, false},
                                         {DType::f8_e4m3fn, DType::f8_e5m2, true},
                                         {DType::f8_e5m2, DType::f8_e4m3fn, true},
                                         {DType::f6_e2m3, DType::f4_e2m1, true},
                                         {DType::f4_e2m1, DType::f6_e2m3, false},
                                         {DType::c128, DType::c64, true},
                                         {DType::c64, DType::c32, true},
                                         {DType::c32, DType::c64, false},
                                         {DType::c64, DType::c64, false},
                                         {DType::c64, DType::f32, false},
                                         {DType::c64, DType::bf16, false},
                                         {DType::f64, DType::c32, false},
                                         {DType::f32, DType::i8, false},
                                         {DType::f32, DType::i32, false},
                                         {DType::i32, DType::f32, false},
                                         {DType::i64, DType::i8, false},
                                         {DType::boolean, DType::f16, false}}) {
    INFO(name(row.from) << " to " << name(row.to));
    CHECK(rounds_to(row.from, row.to) == row.expected);
  }
}

/// Codes of `dtype` one after the other, as they are stored; packed ones one a byte.
std::vector<std::byte> stored(DType dtype, const std::vector<std::uint64_t>& codes) {
  const std::size_t width = bits(dtype) < 8 ? 1 : static_cast<std::size_t>(bits(dtype)) / 8;
  std::vector<std::byte> bytes(codes.size() * width);
  for (std::size_t i = 0; i < codes.size(); ++i)
    std::memcpy(bytes.data() + i * width, &codes[i], width);
  return bytes;
}

/// Whether `to` is `value` rounded, alone, and as each element of blocks of 16, 17 and 32 zeros.
void check_rounded(DType from_dtype, double value, DType to_dtype, std::uint64_t to,
                   bool expected) {
  const DType wide = part_of(from_dtype);
  const DType narrow = part_of(to_dtype);
  const std::size_t parts = is_complex(from_dtype) ? 2 : 1;
  for (const Kernels* isa : usable_kernels()) {
    for (const std::size_t count : {1U, 16U, 17U, 32U}) {
      for (const std::size_t at : {std::size_t{0}, count * parts / 2, count * parts - 1}) {
        std::vector<std::uint64_t> a(count * parts, 0);
        std::vector<std::uint64_t> b(count * parts, 0);
        a[at] = code_of(wide, value);
        b[at] = to;
        INFO(name(from_dtype) << " " << value << " to " << name(to_dtype) << " " << to << ", "
                              << isa->name << ", " << at << " of " << count);
        CHECK(rounds_block(*isa, from_dtype, stored(wide, a).data(), to_dtype,
                           stored(narrow, b).data(), static_cast<int>(count)) == expected);
      }
    }
  }
}

TEST_CASE("elements are rounded to nearest even, overflow to infinity, NaN to any NaN") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  struct Row {
    DType from;
    double value;
    DType to;
    std::uint64_t code;
    bool expected;
  };
  using enum DType;
  for (const Row& row :
       std::vector<Row>{{f32, 1, bf16, 0x3f80, true},
                        {f32, 1, bf16, 0x3f81, false},
                        {f32, 1 + 0x1p-8, bf16, 0x3f80, true},  // a tie
                        {f32, 1 + 0x1p-8, bf16, 0x3f81, false},
                        {f32, 1 + 0x1p-8 + 0x1p-20, bf16, 0x3f81, true},  // above it
                        {f32, 1 + 0x1.8p-7, bf16, 0x3f82, true},  // a tie whose even one is above
                        {f32, 1 + 0x1.8p-7, bf16, 0x3f81, false},
                        {f32, -0.0, bf16, 0x8000, true},
                        {f32, -0.0, bf16, 0x0000, false},
                        {f32, 0.0, bf16, 0x8000, false},
                        {f32, 0x1p-149, bf16, 0x0000, true},
                        {f32, 3.4e38, bf16, 0x7f80, true},
                        {f32, kInfinity, bf16, 0x7f80, true},
                        {f32, -kInfinity, bf16, 0x7f80, false},
                        {f32, -kInfinity, bf16, 0xff80, true},
                        {f32, nan, bf16, 0x7fc0, true},
                        {f32, nan, bf16, 0xff81, true},
                        {f32, nan, bf16, 0x7f80, false},
                        {f32, nan, bf16, 0x3f80, false},
                        {f32, 1, bf16, 0x7fc0, false},
                        {f32, 65520, f16, 0x7c00, true},  // half a step beyond the largest
                        {f32, 65519, f16, 0x7bff, true},
                        {f32, 65520, f16, 0x7bff, false},
                        {f32, 0x1p-25, f16, 0x0000, true},
                        {f32, 0x1.8p-25, f16, 0x0001, true},
                        {f32, nan, f16, 0x7e00, true},
                        {f32, nan, f16, 0x7c00, false},
                        {f32, 1.125, f8_e5m2, 0x3c, true},
                        {f32, 1.125, f8_e5m2, 0x3d, false},
                        {f32, 500, f8_e4m3fn, 0x7f, true},  // no infinity: NaN
                        {f32, 2.5, f4_e2m1, 0x4, true},     // 2 and 3, the even code
                        {f32, 100, f4_e2m1, 0x7, true},
                        {f64, 1 + 0x1p-24, f32, 0x3f800000, true},
                        {f64, 1 + 0x1p-24, f32, 0x3f800001, false},
                        {f64, 1e300, f32, 0x7f800000, true},
                        {bf16, 0x1p-30, f16, 0x0000, true},
                        {f16, 1 + 0x1p-8, bf16, 0x3f80, true},
                        {f8_e4m3fn, 1.125, f8_e5m2, 0x3c, true},
                        {f6_e2m3, 1.25, f4_e2m1, 0x2, true},
                        {c64, 1 + 0x1p-11, c32, 0x3c00, true},
                        {c64, 1 + 0x1p-11, c32, 0x3c01, false},
                        {c128, 0.1, c64, 0x3dcccccd, true},
                        {c128, 0.1, c64, 0x3dcccccc, false}}) {
    check_rounded(row.from, row.value, row.to, row.code, row.expected);
  }
}

}  // namespace
}  // namespace ttcheck::compare
