// SPDX-License-Identifier: Apache-2.0
#pragma once
// The loops of the second pass: plain ones that the compiler turns into vectors of whatever the
// including file's flags allow. Sums have an order of their own: element i goes to lane i mod 8,
// and the lanes are folded by halves. Nothing is contracted, so the bits are the same everywhere.
// Included only by kernel_body.hpp, whose rule about inline functions holds here too.

#include "core/compare/kernel_exact.hpp"

namespace ttcheck::compare {
namespace {

inline void split(const float* a, const float* b, int count, double* wide_a, double* distance) {
  for (int i = 0; i < count; ++i) {
    wide_a[i] = static_cast<double>(a[i]);
    distance[i] = __builtin_fabs(static_cast<double>(b[i]) - wide_a[i]);
  }
}

/// UnitFormat, taken apart for the loop; no branches, or it would not become vectors.
struct UnitRounding {
  explicit UnitRounding(const UnitFormat& unit)
      : shift(unit.shift),
        half(unit.shift > 0 ? (1 << (unit.shift - 1)) - 1 : 0),
        odd(unit.shift > 0 ? 1 : 0),
        offset(static_cast<std::int32_t>(unit.offset)),
        least_bits(__builtin_bit_cast(std::int32_t, unit.least)),
        magic(unit.magic),
        magic_bits(__builtin_bit_cast(std::int32_t, unit.magic)),
        most(unit.most) {}

  std::int32_t operator()(float value) const {
    const float size = __builtin_fabsf(value);
    const auto bits = __builtin_bit_cast(std::int32_t, size);
    const std::int32_t normal = ((bits + half + ((bits >> shift) & odd)) >> shift) - offset;
    const std::int32_t below = __builtin_bit_cast(std::int32_t, size + magic) - magic_bits;
    const std::int32_t small = (bits - least_bits) >> 31;
    const std::int32_t steps = (below & small) | (normal & ~small);
    return steps < most ? steps : most;
  }

  std::int32_t shift, half, odd, offset, least_bits;
  float magic;
  std::int32_t magic_bits, most;
};

/// Of f32 itself, where nothing is rounded: its codes are the magnitudes.
inline void exact_ulps(const void* from_a, const void* from_b, int count, std::uint32_t* steps) {
  constexpr std::uint32_t kMagnitude = 0x7fffffffU;
  const auto* a = Elements<std::uint32_t>::at(from_a);
  const auto* b = Elements<std::uint32_t>::at(from_b);
  for (int i = 0; i < count; ++i) {
    const std::uint32_t x = a[i] & kMagnitude;
    const std::uint32_t y = b[i] & kMagnitude;
    const std::uint32_t apart = x > y ? x - y : y - x;
    steps[i] = ((a[i] ^ b[i]) & ~kMagnitude) == 0 ? apart : x + y;
  }
}

inline void ulps(const void* from_a, const void* from_b, int count, const UnitFormat& unit,
                 std::uint32_t* steps) {
  const auto* a = Elements<float>::at(from_a);
  const auto* b = Elements<float>::at(from_b);
  if (unit.shift == 0 && unit.offset == 0) return exact_ulps(from_a, from_b, count, steps);
  const UnitRounding round(unit);
  for (int i = 0; i < count; ++i) {
    const float value_a = a[i];
    const float value_b = b[i];
    const std::int32_t x = round(value_a);
    const std::int32_t y = round(value_b);
    const std::int32_t difference = x - y;
    const std::int32_t sign = difference >> 31;
    const std::int32_t apart = (difference ^ sign) - sign;
    const std::int32_t opposite =
        (__builtin_bit_cast(std::int32_t, value_a) ^ __builtin_bit_cast(std::int32_t, value_b)) >>
        31;
    steps[i] = static_cast<std::uint32_t>(apart & ~opposite) |
               ((static_cast<std::uint32_t>(x) + static_cast<std::uint32_t>(y)) &
                static_cast<std::uint32_t>(opposite));
  }
}

/// Loops of one reduction each: the compiler makes no vectors of more.
inline Census census(const std::uint32_t* steps, int count) {
  Census found;
  std::uint32_t largest = 0;
  for (int i = 0; i < count; ++i) largest = steps[i] > largest ? steps[i] : largest;
  found.largest = largest;
  for (std::uint32_t value = 1; value < 4 && value <= largest; ++value) {
    std::uint32_t sum = 0;
    for (int i = 0; i < count; ++i) sum += static_cast<std::uint32_t>(steps[i] == value);
    found.of[value] = sum;
  }
  return found;
}

inline void narrow(const double* values, const double* distance, int count, float* out) {
  for (int i = 0; i < count; ++i) {
    const auto keep = 0U - static_cast<std::uint32_t>(distance[i] != 0);
    const auto bits = __builtin_bit_cast(std::uint32_t, static_cast<float>(values[i]));
    out[i] = __builtin_bit_cast(float, bits& keep);
  }
}

constexpr int kRegister =
#if defined(__AVX512F__)
    64;
#elif defined(__AVX__)
    32;
#else
    16;
#endif

/// As many doubles as a register holds (a longer vector would live in memory), and what is true of
/// each of them (-1) or not (0).
typedef double Vector __attribute__((vector_size(kRegister)));       // NOLINT(modernize-use-using)
typedef std::int64_t Lanes __attribute__((vector_size(kRegister)));  // NOLINT(modernize-use-using)
constexpr int kDoubles = kRegister / 8;

/// Vectors by name: of two loops, one in the other, the compiler turned the outer one.
template <As kAs>
Squares squares(const double* a, const double* distance, int count) {
  constexpr int kWide = 8;
  constexpr int kVectors = kWide / kDoubles;
  Vector of_d[kVectors] = {};
  Vector of_a[kVectors] = {};
  int i = 0;
  for (; i + kWide <= count; i += kWide) {
    for (int v = 0; v < kVectors; ++v) {
      Vector x, d;
      __builtin_memcpy(&x, a + i + v * kDoubles, sizeof x);
      __builtin_memcpy(&d, distance + i + v * kDoubles, sizeof d);
      of_d[v] += kAs == As::squares ? d : d * d;
      of_a[v] += kAs == As::squares ? x : x * x;
    }
  }
  double d2[kWide];
  double a2[kWide];
  __builtin_memcpy(d2, &of_d, sizeof d2);
  __builtin_memcpy(a2, &of_a, sizeof a2);
  for (int j = 0; i + j < count; ++j) {
    d2[j] += squared<kAs>(distance[i + j]);
    a2[j] += squared<kAs>(a[i + j]);
  }
  for (int half = kWide / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) {
      d2[j] += d2[j + half];
      a2[j] += a2[j + half];
    }
  }
  return {d2[0], a2[0]};
}

template <As kAs>
void add_squares(const double* distance, int count, double* sums) {
  for (int i = 0; i < count; ++i) sums[i] += squared<kAs>(distance[i]);
}

inline bool exceeds(const double* a, const double* distance, int count, double ratio,
                    double least) {
  Vector leasts = {};
  leasts += least;
  Lanes any = {};
  int i = 0;
  for (; i + kDoubles <= count; i += kDoubles) {
    Vector x, d;
    __builtin_memcpy(&x, a + i, sizeof x);
    __builtin_memcpy(&d, distance + i, sizeof d);
    const Vector size = x < 0 ? -x : x;
    any |= d > ratio * (size > leasts ? size : leasts);
  }
  std::int64_t found = 0;
  for (int j = 0; j < kDoubles; ++j) found |= any[j];
  for (; i < count; ++i) {
    const double size = __builtin_fabs(a[i]);
    found |= static_cast<std::int64_t>(distance[i] > ratio * (size > least ? size : least));
  }
  return found != 0;
}

}  // namespace
}  // namespace ttcheck::compare
