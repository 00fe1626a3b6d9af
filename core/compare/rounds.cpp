#include "core/compare/rounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/model/decode.hpp"

namespace ttcheck::compare {
namespace {

std::uint64_t code_at(DType dtype, const std::byte* bytes, int at) {
  const auto width = static_cast<std::size_t>(std::max(bits(dtype) / 8, 1));
  std::uint64_t code = 0;
  std::memcpy(&code, bytes + static_cast<std::size_t>(at) * width, width);
  return code;
}

/// The common case, without branches so that it runs at the speed of memory.
bool f32_to_bf16(const std::byte* from, const std::byte* to, int count) {
  std::uint32_t wrong = 0;
  for (int i = 0; i < count; ++i) {
    std::uint32_t x;
    std::uint16_t y;
    std::memcpy(&x, from + 4 * i, sizeof x);
    std::memcpy(&y, to + 2 * i, sizeof y);
    const std::uint32_t rounded = (x + 0x7fffU + ((x >> 16) & 1U)) >> 16;
    const bool both_nan = (x & 0x7fffffffU) > 0x7f800000U && (y & 0x7fffU) > 0x7f80U;
    const bool x_nan = (x & 0x7fffffffU) > 0x7f800000U;
    wrong |= static_cast<std::uint32_t>(x_nan ? !both_nan : rounded != y);
  }
  return wrong == 0;
}

}  // namespace

bool rounds_to(DType from, DType to) {
  if (is_exact(from) || is_exact(to) || is_complex(from) != is_complex(to)) return false;
  return info(to).mantissa_bits < info(from).mantissa_bits;
}

bool rounds_block(DType from_dtype, const std::byte* from, DType to_dtype, const std::byte* to,
                  int count) {
  if (from_dtype == DType::f32 && to_dtype == DType::bf16) return f32_to_bf16(from, to, count);
  const DType wide = part_of(from_dtype);
  const DType narrow = part_of(to_dtype);
  const int numbers = is_complex(from_dtype) ? 2 * count : count;
  for (int i = 0; i < numbers; ++i) {
    const double value = value_of(wide, code_at(wide, from, i));
    const std::uint64_t code = code_at(narrow, to, i);
    if (std::isnan(value) ? !std::isnan(value_of(narrow, code)) : code_of(narrow, value) != code) {
      return false;
    }
  }
  return true;
}

}  // namespace ttcheck::compare
