// SPDX-License-Identifier: Apache-2.0
#pragma once
// Element types: one row each, in the words of the JSON contract. Widths are in bits, since 4- and
// 6-bit types exist (packed, lowest bits first).

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ttcheck {

enum class DType : std::uint8_t {
  boolean,
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  u64,
  i64,
  f16,
  bf16,
  f32,
  f64,
  c32,
  c64,
  c128,
  f8_e4m3fn,
  f8_e5m2,
  f8_e4m3fnuz,
  f8_e5m2fnuz,
  f8_e8m0,
  f6_e2m3,
  f6_e3m2,
  f4_e2m1,
};

enum class DTypeClass : std::uint8_t {
  boolean,
  unsigned_integer,
  signed_integer,
  floating,
  complex
};

struct DTypeInfo {
  DType dtype;
  std::string_view name;  ///< as in JSON: "bool" "u8" ... "f4_e2m1"
  int bits;               ///< of one element (complex: both parts)
  DTypeClass kind;
  int mantissa_bits;  ///< stored ones, of one part; 0 for integers
};

inline constexpr std::array kDTypes = {
    DTypeInfo{DType::boolean, "bool", 8, DTypeClass::boolean, 0},
    DTypeInfo{DType::u8, "u8", 8, DTypeClass::unsigned_integer, 0},
    DTypeInfo{DType::i8, "i8", 8, DTypeClass::signed_integer, 0},
    DTypeInfo{DType::u16, "u16", 16, DTypeClass::unsigned_integer, 0},
    DTypeInfo{DType::i16, "i16", 16, DTypeClass::signed_integer, 0},
    DTypeInfo{DType::u32, "u32", 32, DTypeClass::unsigned_integer, 0},
    DTypeInfo{DType::i32, "i32", 32, DTypeClass::signed_integer, 0},
    DTypeInfo{DType::u64, "u64", 64, DTypeClass::unsigned_integer, 0},
    DTypeInfo{DType::i64, "i64", 64, DTypeClass::signed_integer, 0},
    DTypeInfo{DType::f16, "f16", 16, DTypeClass::floating, 10},
    DTypeInfo{DType::bf16, "bf16", 16, DTypeClass::floating, 7},
    DTypeInfo{DType::f32, "f32", 32, DTypeClass::floating, 23},
    DTypeInfo{DType::f64, "f64", 64, DTypeClass::floating, 52},
    DTypeInfo{DType::c32, "c32", 32, DTypeClass::complex, 10},
    DTypeInfo{DType::c64, "c64", 64, DTypeClass::complex, 23},
    DTypeInfo{DType::c128, "c128", 128, DTypeClass::complex, 52},
    DTypeInfo{DType::f8_e4m3fn, "f8_e4m3fn", 8, DTypeClass::floating, 3},
    DTypeInfo{DType::f8_e5m2, "f8_e5m2", 8, DTypeClass::floating, 2},
    DTypeInfo{DType::f8_e4m3fnuz, "f8_e4m3fnuz", 8, DTypeClass::floating, 3},
    DTypeInfo{DType::f8_e5m2fnuz, "f8_e5m2fnuz", 8, DTypeClass::floating, 2},
    DTypeInfo{DType::f8_e8m0, "f8_e8m0", 8, DTypeClass::floating, 0},
    DTypeInfo{DType::f6_e2m3, "f6_e2m3", 6, DTypeClass::floating, 3},
    DTypeInfo{DType::f6_e3m2, "f6_e3m2", 6, DTypeClass::floating, 2},
    DTypeInfo{DType::f4_e2m1, "f4_e2m1", 4, DTypeClass::floating, 1},
};

consteval bool dtype_rows_in_order() {
  for (std::size_t i = 0; i < kDTypes.size(); ++i) {
    if (static_cast<std::size_t>(kDTypes[i].dtype) != i) return false;
  }
  return true;
}
static_assert(dtype_rows_in_order());

constexpr const DTypeInfo& info(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)]; }
constexpr std::string_view name(DType dtype) { return info(dtype).name; }
constexpr int bits(DType dtype) { return info(dtype).bits; }
constexpr bool is_floating(DType dtype) { return info(dtype).kind == DTypeClass::floating; }
constexpr bool is_complex(DType dtype) { return info(dtype).kind == DTypeClass::complex; }
constexpr bool is_exact(DType dtype) { return !is_floating(dtype) && !is_complex(dtype); }

/// The dtype of that JSON word, if there is one.
std::optional<DType> dtype_named(std::string_view name);

/// Spacing of the format at 1 (2^-mantissa_bits), the eps of torch.finfo; 0 for exact types.
double epsilon(DType dtype);

/// True where every number of `other` is one of `wide`, too.
bool holds_all_of(DType wide, DType other);

/// Bytes that `count` packed elements take, rounded up. Throws Error on overflow or count < 0.
std::uint64_t byte_size(DType dtype, std::int64_t count);

}  // namespace ttcheck
