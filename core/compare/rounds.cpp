// SPDX-License-Identifier: Apache-2.0
#include "core/compare/rounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/base/require.hpp"
#include "core/model/decode.hpp"

namespace ttcheck::compare {
namespace {

std::uint64_t code_at(DType dtype, const std::byte* bytes, int at) {
  const auto width = static_cast<std::size_t>(std::max(bits(dtype) / 8, 1));
  std::uint64_t code = 0;
  std::memcpy(&code, bytes + static_cast<std::size_t>(at) * width, width);
  return code;
}

}  // namespace

bool rounds_to(DType from, DType to) {
  if (is_exact(from) || is_exact(to) || is_complex(from) != is_complex(to)) return false;
  return from != to && !holds_all_of(to, from);
}

bool rounds_block(const Kernels& isa, DType from_dtype, const std::byte* from, DType to_dtype,
                  const std::byte* to, int count) {
  if constexpr (kRequires) require(rounds_to(from_dtype, to_dtype), "a dtype that rounds");
  if (from_dtype == DType::f32 && count % kLanes == 0) {
    const Block block{from, to, count};
    if (to_dtype == DType::bf16 && isa.rounds_to_bf16(block)) return true;
    if (to_dtype == DType::f16 && isa.rounds_to_f16(block)) return true;
  }
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
