#include "core/model/dtype.hpp"

#include <cmath>

#include "core/base/checked.hpp"

namespace ttcheck {

std::optional<DType> dtype_named(std::string_view name) {
  for (const DTypeInfo& row : kDTypes) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

double epsilon(DType dtype) {
  return is_exact(dtype) ? 0.0 : std::ldexp(1.0, -info(dtype).mantissa_bits);
}

std::uint64_t byte_size(DType dtype, std::int64_t count) {
  const auto elements = checked_cast<std::uint64_t>(count);
  const auto width = static_cast<std::uint64_t>(bits(dtype));
  if (width % 8 == 0) return checked_mul(elements, width / 8);
  return checked_add(checked_mul(elements, width), std::uint64_t{7}) / 8;
}

}  // namespace ttcheck
