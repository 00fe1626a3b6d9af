// SPDX-License-Identifier: Apache-2.0
#include "core/compare/floats.hpp"

#include <cstring>

#include "core/base/require.hpp"
#include "core/model/decode.hpp"

namespace ttcheck::compare {

std::optional<Load> native_load(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return Load::f32;
    case DType::bf16:
      return Load::bf16;
    case DType::f16:
      return Load::f16;
    default:
      return std::nullopt;
  }
}

std::optional<Whole> whole_of(DType dtype) {
  constexpr int kFirst = static_cast<int>(DType::u8);  // both lists have one order
  static_assert(static_cast<int>(DType::i64) - kFirst == static_cast<int>(Whole::i64));
  static_assert(static_cast<int>(DType::u16) - kFirst == static_cast<int>(Whole::u16));
  static_assert(static_cast<int>(DType::i32) - kFirst == static_cast<int>(Whole::i32));
  if (!is_exact(dtype) || dtype == DType::boolean) return std::nullopt;
  return static_cast<Whole>(static_cast<int>(dtype) - kFirst);
}

std::optional<Whole> common_whole(DType a, DType b) {
  if (a != b) return std::nullopt;
  return a == DType::boolean ? Whole::u8 : whole_of(a);
}

std::optional<SmallFormat> small_format(DType dtype) {
  switch (dtype) {
    case DType::f8_e5m2:
      return SmallFormat{8, 8, 0x7f, 0, 0x100, 1};
    case DType::f8_e4m3fn:
      return SmallFormat{7, 8, 0x7f, 0x7f, 0x7f, 0x1p8F};
    case DType::f8_e4m3fnuz:
      return SmallFormat{7, 8, 0x7f, 0xff, 0x80, 0x1p7F};
    case DType::f6_e2m3:
      return SmallFormat{7, 10, 0x1f, 0, 0x100, 0x1p14F};
    case DType::f6_e3m2:
      return SmallFormat{8, 10, 0x1f, 0, 0x100, 0x1p12F};
    case DType::f4_e2m1:
      return SmallFormat{9, 12, 0x7, 0, 0x100, 0x1p14F};
    default:
      return std::nullopt;  // e5m2fnuz has finite values where f16 has none
  }
}

void widen(const Kernels& isa, DType dtype, const std::byte* from, int count, float* out) {
  require(fits_float(dtype), "a dtype that fp32 holds");
  require(0 <= count && count <= kBlock, "at most a block");
  const auto format = small_format(dtype);
  const auto load = native_load(dtype);
  alignas(64) std::byte copy[kBlock * sizeof(float)];
  if ((format || load) && padded(count) != count) {
    const std::size_t width = width_of(dtype);
    std::memset(copy, 0, static_cast<std::size_t>(padded(count)) * width);
    std::memcpy(copy, from, static_cast<std::size_t>(count) * width);
    from = copy;
  }
  if (load) return isa.widen[static_cast<int>(*load)](from, padded(count), out);
  if (format) {
    return isa.widen_small(reinterpret_cast<const std::uint8_t*>(from), padded(count), *format,
                           out);
  }
  if (bits(dtype) > 8) {
    to_floats(dtype, from, count, out);
  } else {
    const std::array<float, 256>& table = float_table(dtype);
    for (int i = 0; i < count; ++i) out[i] = table[std::to_integer<std::uint8_t>(from[i])];
  }
  std::fill(out + count, out + padded(count), 0.0F);
}

}  // namespace ttcheck::compare
