// SPDX-License-Identifier: Apache-2.0
#include "core/model/dtype.hpp"

#include <cmath>

#include "core/base/checked.hpp"

namespace ttcheck {
namespace {

/// The bits of an integer without its sign.
int value_bits(DType dtype) {
  return bits(dtype) - (info(dtype).kind == DTypeClass::signed_integer ? 1 : 0);
}

/// The bits of the exponent and the sign.
int range_bits(DType dtype) {
  return bits(dtype) / (is_complex(dtype) ? 2 : 1) - info(dtype).mantissa_bits;
}

}  // namespace

std::optional<DType> dtype_named(std::string_view name) {
  for (const DTypeInfo& row : kDTypes) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

double epsilon(DType dtype) {
  return is_exact(dtype) ? 0.0 : std::ldexp(1.0, -info(dtype).mantissa_bits);
}

bool holds_all_of(DType wide, DType other) {
  if (wide == other) return true;
  if (wide == DType::boolean) return false;
  if (other == DType::boolean) return wide != DType::f8_e8m0;  // which has no zero
  if (is_exact(wide)) {
    const bool no_sign = info(wide).kind == DTypeClass::unsigned_integer;
    return is_exact(other) && value_bits(wide) >= value_bits(other) &&
           !(no_sign && info(other).kind == DTypeClass::signed_integer);
  }
  if (is_exact(other)) return info(wide).mantissa_bits + 1 >= value_bits(other);
  return bits(wide) > bits(other) && (is_complex(wide) || !is_complex(other)) &&
         info(wide).mantissa_bits >= info(other).mantissa_bits &&
         range_bits(wide) >= range_bits(other);
}

std::uint64_t byte_size(DType dtype, std::int64_t count) {
  const auto elements = checked_cast<std::uint64_t>(count);
  const auto width = static_cast<std::uint64_t>(bits(dtype));
  if (width % 8 == 0) return checked_mul(elements, width / 8);
  return checked_add(checked_mul(elements, width), std::uint64_t{7}) / 8;
}

}  // namespace ttcheck
