// SPDX-License-Identifier: Apache-2.0
#include "core/model/decode.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/base/require.hpp"

namespace ttcheck {
namespace {

enum class Special : std::uint8_t { ieee, all_ones_nan, negative_zero_nan, none };

/// A sign-exponent-mantissa format of at most 16 bits.
struct Small {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Special special;
};

constexpr Small small_format(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {5, 10, 15, Special::ieee};
    case DType::bf16:
      return {8, 7, 127, Special::ieee};
    case DType::f8_e4m3fn:
      return {4, 3, 7, Special::all_ones_nan};
    case DType::f8_e5m2:
      return {5, 2, 15, Special::ieee};
    case DType::f8_e4m3fnuz:
      return {4, 3, 8, Special::negative_zero_nan};
    case DType::f8_e5m2fnuz:
      return {5, 2, 16, Special::negative_zero_nan};
    case DType::f6_e2m3:
      return {2, 3, 1, Special::none};
    case DType::f6_e3m2:
      return {3, 2, 3, Special::none};
    case DType::f4_e2m1:
      return {2, 1, 1, Special::none};
    default:
      return {0, 0, 0, Special::none};
  }
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double small_value(const Small& f, std::uint64_t code) {
  const std::uint64_t magnitude_mask = (1ULL << (f.exponent_bits + f.mantissa_bits)) - 1;
  const std::uint64_t magnitude = code & magnitude_mask;
  const bool negative = ((code >> (f.exponent_bits + f.mantissa_bits)) & 1) != 0;
  const auto exponent = static_cast<int>(magnitude >> f.mantissa_bits);
  const std::uint64_t mantissa = magnitude & ((1ULL << f.mantissa_bits) - 1);
  if (f.special == Special::ieee && exponent == (1 << f.exponent_bits) - 1) {
    if (mantissa != 0) return kNan;
    return negative ? -kInfinity : kInfinity;
  }
  if (f.special == Special::all_ones_nan && magnitude == magnitude_mask) return kNan;
  if (f.special == Special::negative_zero_nan && negative && magnitude == 0) return kNan;
  const std::uint64_t significand = exponent == 0 ? mantissa : mantissa | (1ULL << f.mantissa_bits);
  const double value = std::ldexp(static_cast<double>(significand),
                                  std::max(exponent, 1) - f.bias - f.mantissa_bits);
  return negative ? -value : value;
}

/// Largest code of a finite positive number.
std::uint64_t largest_code(const Small& f) {
  const std::uint64_t all = (1ULL << (f.exponent_bits + f.mantissa_bits)) - 1;
  if (f.special == Special::ieee) return all - (1ULL << f.mantissa_bits);
  return f.special == Special::all_ones_nan ? all - 1 : all;
}

std::uint64_t small_code(const Small& f, double value) {
  const std::uint64_t sign = 1ULL << (f.exponent_bits + f.mantissa_bits);
  const std::uint64_t all = sign - 1;
  const std::uint64_t signed_bit = std::signbit(value) ? sign : 0;
  const std::uint64_t largest = largest_code(f);
  const auto overflow = [&]() -> std::uint64_t {
    if (f.special == Special::ieee) return signed_bit | (all - ((1ULL << f.mantissa_bits) - 1));
    if (f.special == Special::all_ones_nan) return signed_bit | all;
    return f.special == Special::negative_zero_nan ? sign : signed_bit | largest;
  };
  if (std::isnan(value)) {
    if (f.special == Special::none) return 0;
    return f.special == Special::negative_zero_nan ? sign : signed_bit | all;
  }
  if (std::isinf(value)) return overflow();
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return f.special == Special::negative_zero_nan ? 0 : signed_bit;
  const int exponent = std::max(std::ilogb(magnitude), 1 - f.bias);
  const double steps = std::nearbyint(std::ldexp(magnitude, f.mantissa_bits - exponent));
  if (steps == 0) return f.special == Special::negative_zero_nan ? 0 : signed_bit;
  if (exponent + f.bias > (1 << f.exponent_bits)) return overflow();
  // A carry out of the mantissa runs into the exponent, which is what rounding up means.
  const auto code = static_cast<std::uint64_t>(steps) +
                    (static_cast<std::uint64_t>(exponent + f.bias - 1) << f.mantissa_bits);
  return code > largest ? overflow() : signed_bit | code;
}

template <class T>
std::uint64_t integer_code(double value) {
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double kHigh = static_cast<double>(std::numeric_limits<T>::max());
  if (std::isnan(value)) return 0;
  const double rounded = std::nearbyint(value);
  if (rounded <= kLow) return static_cast<std::uint64_t>(std::numeric_limits<T>::min());
  if (rounded >= kHigh) return static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  return static_cast<std::uint64_t>(static_cast<T>(rounded));
}

double scale_value(std::uint64_t code) {
  return code == 0xff ? kNan : std::ldexp(1.0, static_cast<int>(code) - 127);
}

std::uint64_t scale_code(double value) {
  if (!(value >= 0) || std::isinf(value)) return 0xff;
  const double least = std::ldexp(1.0, -127);
  if (value <= least) return 0;
  const int exponent = std::ilogb(value);
  const int rounded = exponent + (std::ldexp(value, -exponent) >= 1.5 ? 1 : 0);
  return rounded > 127 ? 0xff : static_cast<std::uint64_t>(rounded + 127);
}

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T, class Out>
void convert(const std::byte* in, std::int64_t count, Out* out) {
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<Out>(load<T>(in + static_cast<std::size_t>(i) * sizeof(T)));
  }
}

template <class Out>
void convert_half(DType dtype, const std::byte* in, std::int64_t count, Out* out) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto code = load<std::uint16_t>(in + 2 * i);
    out[i] = dtype == DType::bf16 ? widen_bf16(code) : widen_f16(code);
  }
}

template <class Out>
void convert_packed(DType dtype, const std::byte* in, std::int64_t count, Out* out) {
  const std::array<float, 256>& table = float_table(dtype);
  std::array<std::uint8_t, 512> codes;  // a multiple of 8, so chunks start at whole bytes
  for (std::int64_t at = 0; at < count; at += static_cast<std::int64_t>(codes.size())) {
    const std::int64_t n = std::min(count - at, static_cast<std::int64_t>(codes.size()));
    unpack(dtype, in + at * bits(dtype) / 8, n, codes.data());
    for (std::int64_t i = 0; i < n; ++i) out[at + i] = table[codes[static_cast<std::size_t>(i)]];
  }
}

/// Dtypes that fits_float admits.
template <class Out>
void convert_narrow(DType dtype, const std::byte* in, std::int64_t count, Out* out) {
  switch (dtype) {
    case DType::u16:
      return convert<std::uint16_t>(in, count, out);
    case DType::i16:
      return convert<std::int16_t>(in, count, out);
    case DType::f16:
    case DType::bf16:
      return convert_half(dtype, in, count, out);
    case DType::f32:
      return convert<float>(in, count, out);
    default:
      break;
  }
  if (bits(dtype) < 8) return convert_packed(dtype, in, count, out);
  const std::array<float, 256>& table = float_table(dtype);
  for (std::int64_t i = 0; i < count; ++i) out[i] = table[load<std::uint8_t>(in + i)];
}

}  // namespace

float widen_f16(std::uint16_t code) {
  const std::uint32_t sign = (static_cast<std::uint32_t>(code) & 0x8000U) << 16;
  const std::uint32_t magnitude = code & 0x7fffU;
  if (magnitude >= 0x7c00U) {
    const std::uint32_t quiet = magnitude > 0x7c00U ? 0x400000U : 0U;  // as F16C does
    return std::bit_cast<float>(sign | 0x7f800000U | quiet | ((magnitude & 0x3ffU) << 13));
  }
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(scaled));
}

double value_of(DType dtype, std::uint64_t code) {
  require(!is_complex(dtype), "a real dtype");
  switch (dtype) {
    case DType::boolean:
      return (code & 0xff) != 0 ? 1 : 0;
    case DType::u8:
      return static_cast<std::uint8_t>(code);
    case DType::i8:
      return static_cast<std::int8_t>(code);
    case DType::u16:
      return static_cast<std::uint16_t>(code);
    case DType::i16:
      return static_cast<std::int16_t>(code);
    case DType::u32:
      return static_cast<std::uint32_t>(code);
    case DType::i32:
      return static_cast<std::int32_t>(code);
    case DType::u64:
      return static_cast<double>(code);
    case DType::i64:
      return static_cast<double>(static_cast<std::int64_t>(code));
    case DType::f32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(code));
    case DType::f64:
      return std::bit_cast<double>(code);
    case DType::f8_e8m0:
      return scale_value(code & 0xff);
    default:
      return small_value(small_format(dtype), code);
  }
}

std::uint64_t code_of(DType dtype, double value) {
  require(!is_complex(dtype), "a real dtype");
  switch (dtype) {
    case DType::boolean:
      return value != 0 ? 1 : 0;
    case DType::u8:
      return integer_code<std::uint8_t>(value);
    case DType::i8:
      return integer_code<std::int8_t>(value) & 0xff;
    case DType::u16:
      return integer_code<std::uint16_t>(value);
    case DType::i16:
      return integer_code<std::int16_t>(value) & 0xffff;
    case DType::u32:
      return integer_code<std::uint32_t>(value);
    case DType::i32:
      return integer_code<std::int32_t>(value) & 0xffffffff;
    case DType::u64:
      return integer_code<std::uint64_t>(value);
    case DType::i64:
      return integer_code<std::int64_t>(value);
    case DType::f32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case DType::f64:
      return std::bit_cast<std::uint64_t>(value);
    case DType::f8_e8m0:
      return scale_code(value);
    default:
      return small_code(small_format(dtype), value);
  }
}

const std::array<float, 256>& float_table(DType dtype) {
  static const auto kTables = [] {
    std::array<std::array<float, 256>, kDTypes.size()> tables{};
    for (const DTypeInfo& row : kDTypes) {
      if (row.bits > 8) continue;
      const std::size_t codes = std::size_t{1} << row.bits;
      for (std::size_t code = 0; code < 256; ++code) {
        tables[static_cast<std::size_t>(row.dtype)][code] =
            static_cast<float>(value_of(row.dtype, code % codes));
      }
    }
    return tables;
  }();
  return kTables[static_cast<std::size_t>(dtype)];
}

void unpack(DType dtype, const std::byte* packed, std::int64_t count, std::uint8_t* codes) {
  const auto width = static_cast<unsigned>(bits(dtype));
  const unsigned mask = (1U << width) - 1;
  unsigned held = 0;
  unsigned have = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (have < width) {
      held |= std::to_integer<unsigned>(*packed++) << have;
      have += 8;
    }
    codes[i] = static_cast<std::uint8_t>(held & mask);
    held >>= width;
    have -= width;
  }
}

void pack(DType dtype, const std::uint8_t* codes, std::int64_t count, std::byte* packed) {
  const auto width = static_cast<unsigned>(bits(dtype));
  unsigned held = 0;
  unsigned have = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    held |= static_cast<unsigned>(codes[i]) << have;
    have += width;
    if (have >= 8) {
      *packed++ = static_cast<std::byte>(held & 0xff);
      held >>= 8;
      have -= 8;
    }
  }
  if (have > 0) *packed = static_cast<std::byte>(held & 0xff);
}

void to_floats(DType dtype, const std::byte* in, std::int64_t count, float* out) {
  require(fits_float(dtype), "a dtype that fp32 holds");
  convert_narrow(dtype, in, count, out);
}

void to_doubles(DType dtype, const std::byte* in, std::int64_t count, double* out) {
  switch (dtype) {
    case DType::u32:
      return convert<std::uint32_t>(in, count, out);
    case DType::i32:
      return convert<std::int32_t>(in, count, out);
    case DType::u64:
      return convert<std::uint64_t>(in, count, out);
    case DType::i64:
      return convert<std::int64_t>(in, count, out);
    case DType::f64:
      return convert<double>(in, count, out);
    case DType::c32:
    case DType::c64:
    case DType::c128:
      return to_doubles(part_of(dtype), in, 2 * count, out);
    default:
      return convert_narrow(dtype, in, count, out);
  }
}

void from_doubles(DType dtype, const double* in, std::int64_t count, std::byte* out) {
  if (is_complex(dtype)) return from_doubles(part_of(dtype), in, 2 * count, out);
  if (bits(dtype) < 8) {
    std::vector<std::uint8_t> codes(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < codes.size(); ++i) {
      codes[i] = static_cast<std::uint8_t>(code_of(dtype, in[i]));
    }
    return pack(dtype, codes.data(), count, out);
  }
  const auto width = static_cast<std::size_t>(bits(dtype)) / 8;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t code = code_of(dtype, in[i]);
    std::memcpy(out + static_cast<std::size_t>(i) * width, &code, width);
  }
}

}  // namespace ttcheck
