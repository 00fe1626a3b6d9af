// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arithmetic on numbers that came from a file. Each helper throws Error instead of wrapping.

#include <concepts>
#include <cstdint>
#include <span>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/require.hpp"

namespace ttcheck {

/// Throws Error; apart, so that the arithmetic around it stays small.
[[noreturn, gnu::cold]] void throw_overflow(const char* message);

template <std::integral T>
[[nodiscard]] constexpr T checked_add(T a, T b) {
  T sum{};
  if (__builtin_add_overflow(a, b, &sum)) throw_overflow("sum overflows");
  return sum;
}

template <std::integral T>
[[nodiscard]] constexpr T checked_sub(T a, T b) {
  T difference{};
  if (__builtin_sub_overflow(a, b, &difference)) throw_overflow("difference overflows");
  return difference;
}

template <std::integral T>
[[nodiscard]] constexpr T checked_mul(T a, T b) {
  T product{};
  if (__builtin_mul_overflow(a, b, &product)) throw_overflow("product overflows");
  return product;
}

/// The value as another integer type, if it fits.
template <std::integral To, std::integral From>
[[nodiscard]] constexpr To checked_cast(From value) {
  if (!std::in_range<To>(value)) throw_overflow("number does not fit");
  return static_cast<To>(value);
}

/// a / b rounded up. REQUIRES b > 0, a >= 0.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  require(a >= 0 && b > 0, "a >= 0, b > 0");
  return a / b + (a % b != 0 ? 1 : 0);
}

/// Product of non-negative factors; 1 for none. Throws on a negative factor or overflow.
[[nodiscard]] std::int64_t checked_product(std::span<const std::int64_t> factors);

/// True when [offset, offset + count) lies within [0, size); never overflows.
[[nodiscard]] constexpr bool within(std::uint64_t offset, std::uint64_t count, std::uint64_t size) {
  return offset <= size && count <= size - offset;
}

}  // namespace ttcheck
