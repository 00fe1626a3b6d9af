// SPDX-License-Identifier: Apache-2.0
#pragma once
// Element codes and their values. Layouts: IEEE 754 (f16, f32, f64), bfloat16, the OCP 8-bit and
// MX specifications (f8_e4m3fn, f8_e5m2, f8_e8m0, f6, f4), and the FNUZ variants (one zero, one
// NaN, no infinity, bias one higher).

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/model/dtype.hpp"

namespace ttcheck {

/// The value of a bf16 code. Exact; a NaN keeps its payload.
constexpr float widen_bf16(std::uint16_t code) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16);
}

/// The value of an f16 code. Exact; a NaN keeps its payload and becomes quiet.
float widen_f16(std::uint16_t code);

/// The value of one code of a real dtype, in the low bits. Exact except for 64-bit integers
/// (rounded to nearest). A NaN code gives a quiet NaN. REQUIRES !is_complex(dtype).
double value_of(DType dtype, std::uint64_t code);

/// The code nearest to `value`, ties to even. What is too large becomes infinity, else NaN, else
/// (formats with neither, integers) the largest magnitude. REQUIRES !is_complex(dtype).
std::uint64_t code_of(DType dtype, double value);

/// Values by code of a dtype of at most 8 bits; codes beyond the dtype's width repeat.
const std::array<float, 256>& float_table(DType dtype);

/// True when fp32 holds every value of it: floats up to 32 bits, integers up to 16, bool.
constexpr bool fits_float(DType dtype) { return bits(dtype) <= 16 || dtype == DType::f32; }

/// Splits packed 4- and 6-bit codes (lowest bits first) into one byte each, and back.
void unpack(DType dtype, const std::byte* packed, std::int64_t count, std::uint8_t* codes);
void pack(DType dtype, const std::uint8_t* codes, std::int64_t count, std::byte* packed);

/// `count` stored elements (little-endian, packed from bit 0) as floats. REQUIRES
/// fits_float(dtype).
void to_floats(DType dtype, const std::byte* in, std::int64_t count, float* out);

/// `count` stored elements as doubles; of a complex dtype 2 * count numbers, real part first.
void to_doubles(DType dtype, const std::byte* in, std::int64_t count, double* out);

/// The reverse, rounded to nearest even; of a complex dtype from 2 * count numbers.
void from_doubles(DType dtype, const double* in, std::int64_t count, std::byte* out);

/// The dtype of one part of a complex dtype; any other dtype itself.
constexpr DType part_of(DType dtype) {
  switch (dtype) {
    case DType::c32:
      return DType::f16;
    case DType::c64:
      return DType::f32;
    case DType::c128:
      return DType::f64;
    default:
      return dtype;
  }
}

}  // namespace ttcheck
