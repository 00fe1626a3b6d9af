// SPDX-License-Identifier: Apache-2.0
#pragma once
// The loops over complex numbers of two f32, as they are stored. Squares of such parts are within
// the range of a double, so the square of a modulus is where the modulus is: what sums squares, or
// asks which of two is larger, needs no root. Included only by kernel_body.hpp, whose rule about
// inline functions holds here too.

#include "core/compare/kernel_detail.hpp"
#include "core/compare/kernel_exact.hpp"

namespace ttcheck::compare {
namespace {

inline void part(const void* both, int count, double* real, double* imaginary) {
  const auto* from = Elements<float>::at(both);
  for (int i = 0; i < count; ++i) {
    real[i] = static_cast<double>(from[2 * i]);
    imaginary[i] = static_cast<double>(from[2 * i + 1]);
  }
}

/// Moduli of complex numbers whose squares double holds.
inline void moduli(const double* real, const double* imaginary, int count, double* out) {
  for (int i = 0; i < count; ++i) {
    out[i] = __builtin_sqrt(real[i] * real[i] + imaginary[i] * imaginary[i]);
  }
}

inline void square_moduli(const void* values, int count, double* __restrict out) {
  const auto* from = Elements<float>::at(values);
  for (int i = 0; i < count; ++i) {
    const auto real = static_cast<double>(from[2 * i]);
    const auto imaginary = static_cast<double>(from[2 * i + 1]);
    out[i] = real * real + imaginary * imaginary;
  }
}

inline bool squares_apart(const void* from_a, const void* from_b, int count, double* __restrict a2,
                          double* __restrict b2, double* __restrict d2) {
  const auto* a = Elements<float>::at(from_a);
  const auto* b = Elements<float>::at(from_b);
  std::uint64_t odd = 0;
  for (int i = 0; i < count; ++i) {
    const auto real_a = static_cast<double>(a[2 * i]);
    const auto imaginary_a = static_cast<double>(a[2 * i + 1]);
    const auto real_b = static_cast<double>(b[2 * i]);
    const auto imaginary_b = static_cast<double>(b[2 * i + 1]);
    const double real = real_b - real_a;
    const double imaginary = imaginary_b - imaginary_a;
    const double apart = real * real + imaginary * imaginary;
    a2[i] = real_a * real_a + imaginary_a * imaginary_a;
    b2[i] = real_b * real_b + imaginary_b * imaginary_b;
    d2[i] = apart;
    odd |= is_odd(apart);
  }
  return odd == 0;
}

inline void roots(double* values, int count) {
  for (int i = 0; i < count; ++i) values[i] = __builtin_sqrt(values[i]);
}

/// By a part of a block, whose steps the nearest cache holds.
inline void complex_steps(const void* from_a, const void* from_b, int count, const UnitFormat& unit,
                          std::uint32_t* steps) {
  constexpr int kPart = 256;
  const auto* a = Elements<float>::at(from_a);
  const auto* b = Elements<float>::at(from_b);
  alignas(64) std::uint32_t of_parts[2 * kPart];
  for (int from = 0; from < count; from += kPart) {
    const int n = count - from < kPart ? count - from : kPart;
    ulps(a + 2 * from, b + 2 * from, 2 * n, unit, of_parts);
    for (int i = 0; i < n; ++i) {
      const std::uint32_t real = of_parts[2 * i];
      const std::uint32_t imaginary = of_parts[2 * i + 1];
      steps[from + i] = real > imaginary ? real : imaginary;
    }
  }
}

}  // namespace
}  // namespace ttcheck::compare
