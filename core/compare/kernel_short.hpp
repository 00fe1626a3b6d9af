// SPDX-License-Identifier: Apache-2.0
#pragma once
// The loops of the second pass over integers of at most 16 bits, as they are stored: what they find
// is exact, so it is what doubles would find, without the eight bytes that a double takes. Included
// only by kernel_body.hpp, whose rule about inline functions holds here too.

#include <type_traits>

#include "core/compare/kernel_detail.hpp"
#include "core/compare/kernel_exact.hpp"

namespace ttcheck::compare {
namespace {

/// Of at most kBlock numbers. Squares of 8 bits' distances are below 2^16; those of 16 bits are
/// added by their halves.
template <class T>
Squares integer_row(const void* from_a, const void* from_b, int count) {
  const auto* a = Elements<T>::at(from_a);
  const auto* b = Elements<T>::at(from_b);
  if constexpr (sizeof(T) == 1) {
    std::int32_t d2 = 0;
    std::int32_t a2 = 0;
    for (int i = 0; i < count; ++i) {
      const auto x = static_cast<std::int16_t>(a[i]);
      const auto d = static_cast<std::int16_t>(static_cast<std::int16_t>(b[i]) - x);
      d2 += d * d;
      a2 += x * x;
    }
    return {static_cast<double>(d2), static_cast<double>(a2)};
  } else {
    std::uint32_t low_d = 0;
    std::uint32_t high_d = 0;
    std::uint32_t low_a = 0;
    std::uint32_t high_a = 0;
    for (int i = 0; i < count; ++i) {
      const std::uint32_t x = static_cast<std::uint32_t>(static_cast<std::int32_t>(a[i]));
      const std::uint32_t d = static_cast<std::uint32_t>(static_cast<std::int32_t>(b[i])) - x;
      low_d += (d * d) & 0xffffU;
      high_d += (d * d) >> 16;
      low_a += (x * x) & 0xffffU;
      high_a += (x * x) >> 16;
    }
    return {0x1p16 * static_cast<double>(high_d) + static_cast<double>(low_d),
            0x1p16 * static_cast<double>(high_a) + static_cast<double>(low_a)};
  }
}

template <class T>
void small_columns(const void* from_a, const void* from_b, int count,
                   std::uint32_t* __restrict sums) {
  const auto* a = Elements<T>::at(from_a);
  const auto* b = Elements<T>::at(from_b);
  for (int i = 0; i < count; ++i) {
    const auto d = static_cast<std::int16_t>(static_cast<std::int16_t>(b[i]) - a[i]);
    sums[i] += static_cast<std::uint16_t>(d * d);
  }
}

template <class T>
void integer_columns(const void* from_a, const void* from_b, int count, double* __restrict sums) {
  const auto* a = Elements<T>::at(from_a);
  const auto* b = Elements<T>::at(from_b);
  for (int i = 0; i < count; ++i) {
    const auto d = static_cast<double>(static_cast<std::int32_t>(b[i]) - a[i]);
    sums[i] += d * d;
  }
}

template <class T>
void integer_steps(const void* from_a, const void* from_b, int count,
                   std::uint32_t* __restrict steps) {
  const auto* a = Elements<T>::at(from_a);
  const auto* b = Elements<T>::at(from_b);
  for (int i = 0; i < count; ++i) {
    steps[i] = static_cast<std::uint32_t>(__builtin_abs(static_cast<std::int32_t>(b[i]) - a[i]));
  }
}

/// A lane counts a number of each vector of a block: at most 128, which 8 bits hold.
template <class T>
Census integer_census(const void* from_a, const void* from_b, int count) {
  using Step = std::make_unsigned_t<T>;
  typedef T Numbers __attribute__((vector_size(kRegister)));   // NOLINT(modernize-use-using)
  typedef Step Steps __attribute__((vector_size(kRegister)));  // NOLINT(modernize-use-using)
  constexpr std::size_t kWide = kRegister / sizeof(T);
  const auto* a = static_cast<const std::byte*>(from_a);
  const auto* b = static_cast<const std::byte*>(from_b);
  const auto size = static_cast<std::size_t>(count);
  Steps most = {};
  Steps of[3] = {};
  for (std::size_t i = 0; i < size; i += kWide) {
    const std::size_t n = size - i < kWide ? size - i : kWide;
    Numbers x = {};
    Numbers y = {};
    if (n == kWide) {  // else of a size that is not known here
      __builtin_memcpy(&x, a + i * sizeof(T), sizeof x);
      __builtin_memcpy(&y, b + i * sizeof(T), sizeof y);
    } else {
      __builtin_memcpy(&x, a + i * sizeof(T), n * sizeof(T));
      __builtin_memcpy(&y, b + i * sizeof(T), n * sizeof(T));
    }
    const Steps up = reinterpret_cast<Steps>(y) - reinterpret_cast<Steps>(x);
    const Steps d = y > x ? up : -up;
    most = d > most ? d : most;
    of[0] -= reinterpret_cast<Steps>(d == 1);
    of[1] -= reinterpret_cast<Steps>(d == 2);
    of[2] -= reinterpret_cast<Steps>(d == 3);
  }
  Census census;
  for (std::size_t j = 0; j < kWide; ++j) {
    census.largest = most[j] > census.largest ? most[j] : census.largest;
    for (int step = 0; step < 3; ++step) census.of[step + 1] += of[step][j];
  }
  return census;
}

}  // namespace
}  // namespace ttcheck::compare
