// SPDX-License-Identifier: Apache-2.0
#pragma once
// The loops over integers, whose sums are exact, and over doubles: plain ones that the compiler
// turns into vectors of whatever the including file's flags allow. Sums of doubles are those of
// sixteen lanes, folded by halves (core/compare/wide.hpp); nothing is contracted, so the bits are
// the same everywhere. Included only by kernel_body.hpp, whose rule about inline functions holds
// here too.

#include "core/compare/kernel.hpp"

namespace ttcheck::compare {
namespace {

/// An element that may stand at any byte.
template <class T>
struct Elements {
  typedef T Type __attribute__((aligned(1), may_alias));  // NOLINT(modernize-use-using)

  static const Type* at(const void* from) { return static_cast<const Type*>(from); }
};

/// A 64-bit integer rounded once: both halves are exact, behind exponents that let them be bits.
inline double nearest(std::uint64_t value) {
  const double high = __builtin_bit_cast(double, (value >> 32) | 0x4530000000000000U);
  const double low = __builtin_bit_cast(double, (value & 0xffffffffU) | 0x4330000000000000U);
  return (high - (0x1p84 + 0x1p52)) + low;
}

inline double nearest(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  const double high =
      __builtin_bit_cast(double, ((bits >> 32) ^ 0x80000000U) | 0x4530000000000000U);
  const double low = __builtin_bit_cast(double, (bits & 0xffffffffU) | 0x4330000000000000U);
  return (high - (0x1p84 + 0x1p63 + 0x1p52)) + low;
}

template <class T>
void to_doubles(const void* from, int count, double* out) {
  const auto* in = Elements<T>::at(from);
  for (int i = 0; i < count; ++i) {
    if constexpr (sizeof(T) == 8) {
      out[i] = nearest(static_cast<T>(in[i]));
    } else {
      out[i] = static_cast<double>(in[i]);
    }
  }
}

/// Of numbers of at most 255: 512 of their squares are below 2^31.
template <class T>
std::uint64_t small_squares(const T* values, int count) {
  std::int32_t sum = 0;
  for (int i = 0; i < count; ++i) {
    const auto value = static_cast<std::int16_t>(values[i]);
    sum += value * value;
  }
  return static_cast<std::uint64_t>(sum);
}

template <class T>
std::uint64_t integer_squares(const void* from, int count) {
  if constexpr (sizeof(T) == 1) {
    return small_squares(static_cast<const T*>(from), count);
  } else {
    const auto* in = Elements<T>::at(from);
    std::uint64_t sum = 0;
    for (int i = 0; i < count; ++i) {
      const auto value = static_cast<std::uint32_t>(static_cast<std::int32_t>(in[i]));
      sum += value * value;
    }
    return sum;
  }
}

inline std::int16_t size_of(std::int16_t value) {
  return static_cast<std::int16_t>(value < 0 ? -value : value);
}

/// Whether a quotient may be above `rel` where no distance is above `most`: of two unsigned numbers
/// none is above 1, of signed ones none above 2, and of two that differ the larger is at least 1.
template <class T>
bool may_rise(const Quotient& rel, int most) {
  constexpr int kMost = static_cast<T>(-1) > 0 ? 1 : 2;
  return kMost * rel.below > rel.above &&
         static_cast<std::int64_t>(most) * rel.below > static_cast<std::int64_t>(rel.above);
}

/// Products of two numbers of at most 255 and 8 bits are below 2^16.
template <class T>
void small_sums(const void* from_a, const void* from_b, int count, const Quotient& rel,
                IntegerSums& sums) {
  const auto* in_a = Elements<T>::at(from_a);
  const auto* in_b = Elements<T>::at(from_b);
  alignas(64) std::int16_t a[kFlush];
  alignas(64) std::int16_t b[kFlush];
  alignas(64) std::int16_t d[kFlush];
  for (int i = 0; i < count; ++i) {
    a[i] = static_cast<std::int16_t>(in_a[i]);
    b[i] = static_cast<std::int16_t>(in_b[i]);
  }
  std::int16_t most = 0;
  std::int16_t equal = 0;
  for (int i = 0; i < count; ++i) {
    const std::int16_t distance = size_of(static_cast<std::int16_t>(b[i] - a[i]));
    d[i] = distance;
    most = distance > most ? distance : most;
    equal = static_cast<std::int16_t>(equal + static_cast<std::int16_t>(distance == 0));
  }
  const auto above = static_cast<std::uint16_t>(rel.above);
  const auto below = static_cast<std::uint16_t>(rel.below);
  std::uint16_t rises = 0;
  const int looked_at = may_rise<T>(rel, most) ? count : 0;
  for (int i = 0; i < looked_at; ++i) {
    const std::int16_t size_a = size_of(a[i]);
    const std::int16_t size_b = size_of(b[i]);
    const std::int16_t larger = size_a > size_b ? size_a : size_b;
    const auto mine = static_cast<std::uint16_t>(d[i] * below);
    const auto other = static_cast<std::uint16_t>(larger * above);
    rises |= static_cast<std::uint16_t>(mine > other ? mine - other : 0);
  }
  sums.a2 = small_squares(a, count);
  sums.b2 = small_squares(b, count);
  sums.d2 = small_squares(d, count);
  sums.most = most;
  sums.unequal = count - equal;
  sums.rises = rises != 0;
}

/// The sum of squares of at most kFlush numbers below 2^16, by the halves of each square: neither
/// half's sum leaves 32 bits.
inline std::uint64_t short_squares(const std::uint32_t* sizes, int count) {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t square = sizes[i] * sizes[i];
    low += square & 0xffffU;
    high += square >> 16;
  }
  return (static_cast<std::uint64_t>(high) << 16) + low;
}

/// Products of two numbers of at most 16 bits are below 2^32.
template <class T>
void short_sums(const void* from_a, const void* from_b, int count, const Quotient& rel,
                IntegerSums& sums) {
  const auto* in_a = Elements<T>::at(from_a);
  const auto* in_b = Elements<T>::at(from_b);
  alignas(64) std::uint32_t a[kFlush];
  alignas(64) std::uint32_t b[kFlush];
  alignas(64) std::uint32_t d[kFlush];
  const auto above = static_cast<std::uint32_t>(rel.above);
  const auto below = static_cast<std::uint32_t>(rel.below);
  for (int i = 0; i < count; ++i) {
    const auto x = static_cast<std::int32_t>(in_a[i]);
    const auto y = static_cast<std::int32_t>(in_b[i]);
    a[i] = static_cast<std::uint32_t>(__builtin_abs(x));
    b[i] = static_cast<std::uint32_t>(__builtin_abs(y));
    d[i] = static_cast<std::uint32_t>(__builtin_abs(y - x));
  }
  std::uint32_t most = 0;
  for (int i = 0; i < count; ++i) most = d[i] > most ? d[i] : most;
  std::uint32_t equal = 0;
  for (int i = 0; i < count; ++i) equal += d[i] == 0 ? 1U : 0U;
  std::uint32_t rises = 0;
  const int looked_at = may_rise<T>(rel, static_cast<int>(most)) ? count : 0;
  for (int i = 0; i < looked_at; ++i) {
    const std::uint32_t mine = d[i] * below;
    const std::uint32_t other = (a[i] > b[i] ? a[i] : b[i]) * above;
    rises |= (mine > other ? mine : other) ^ other;  // 0 where it is not above
  }
  sums.a2 = short_squares(a, count);
  sums.b2 = short_squares(b, count);
  sums.d2 = short_squares(d, count);
  sums.most = static_cast<int>(most);
  sums.unequal = count - static_cast<int>(equal);
  sums.rises = rises != 0;
}

template <class T>
void integer_sums(const void* a, const void* b, int count, const Quotient& rel, IntegerSums& sums) {
  if constexpr (sizeof(T) == 1) {
    small_sums<T>(a, b, count, rel, sums);
  } else {
    short_sums<T>(a, b, count, rel, sums);
  }
}

/// A number below 2^32: its bits behind an exponent that lets them count ones.
inline double exactly(std::uint32_t value) {
  return __builtin_bit_cast(double, value | 0x4330000000000000U) - 0x1p52;
}

template <class T>
bool integers_apart(const void* from_a, const void* from_b, int count, double* __restrict wide_a,
                    double* __restrict distance, std::uint32_t* __restrict steps) {
  const auto* a = Elements<T>::at(from_a);
  const auto* b = Elements<T>::at(from_b);
  std::uint64_t above = 0;
  for (int i = 0; i < count; ++i) {
    if constexpr (sizeof(T) == 8) {
      const std::uint64_t up = static_cast<std::uint64_t>(b[i]) - static_cast<std::uint64_t>(a[i]);
      const std::uint64_t apart = b[i] > a[i] ? up : 0 - up;
      wide_a[i] = nearest(static_cast<T>(a[i]));
      distance[i] = nearest(apart);
      steps[i] = static_cast<std::uint32_t>(apart);
      above |= apart >> 32;
    } else {
      const std::uint32_t up = static_cast<std::uint32_t>(b[i]) - static_cast<std::uint32_t>(a[i]);
      const std::uint32_t apart = b[i] > a[i] ? up : 0 - up;
      wide_a[i] = sizeof(T) == 4 && static_cast<T>(-1) > 0
                      ? exactly(static_cast<std::uint32_t>(a[i]))
                      : static_cast<double>(a[i]);
      distance[i] =
          sizeof(T) == 4 ? exactly(apart) : static_cast<double>(static_cast<std::int32_t>(apart));
      steps[i] = apart;
    }
  }
  return above == 0;
}

/// |b-a| of 64-bit integers, exact but for one rounding.
template <class T>
void integer_distances(const void* from_a, const void* from_b, int count, double* distance) {
  const auto* a = Elements<T>::at(from_a);
  const auto* b = Elements<T>::at(from_b);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t up = static_cast<std::uint64_t>(b[i]) - static_cast<std::uint64_t>(a[i]);
    distance[i] = nearest(b[i] > a[i] ? up : 0 - up);
  }
}

template <class T>
int unequal_codes(const void* from_a, const void* from_b, int count) {
  const auto* a = Elements<T>::at(from_a);
  const auto* b = Elements<T>::at(from_b);
  int unequal = 0;
  for (int i = 0; i < count; ++i) unequal += a[i] != b[i] ? 1 : 0;
  return unequal;
}

inline void distances(const double* a, const double* b, int count, double* distance) {
  for (int i = 0; i < count; ++i) distance[i] = __builtin_fabs(b[i] - a[i]);
}

/// 1 where it is NaN or infinite, else 0.
inline std::uint64_t is_odd(double value) {
  constexpr std::uint64_t kExponent = 0x7ff0000000000000U;
  return (__builtin_bit_cast(std::uint64_t, value) & kExponent) == kExponent ? 1U : 0U;
}

inline bool finite(const double* values, int count) {
  std::uint64_t odd = 0;
  for (int i = 0; i < count; ++i) odd |= is_odd(values[i]);
  return odd == 0;
}

template <As kAs>
inline double squared(double value) {
  return kAs == As::squares ? value : value * value;
}

template <As kAs>
double square_sum(const double* values, int count) {
  double sum[kLanes] = {};
  for (int i = 0; i < count; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) {
      sum[j] += squared<kAs>(values[i + j]);
    }
  }
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) sum[j] += sum[j + half];
  }
  return sum[0];
}

/// Four doubles, and what is true of each of them (-1) or not (0); no vector of the processor's has
/// to be as wide.
typedef double Four __attribute__((vector_size(32)));          // NOLINT(modernize-use-using)
typedef std::int64_t FourOf __attribute__((vector_size(32)));  // NOLINT(modernize-use-using)

inline void extremes(const double* from_a, const double* from_b, const double* from_d, int count,
                     const Bounds& bounds, Extremes& found) {
  Four most = {};
  FourOf rises = {};
  FourOf beyond = {};
  for (int i = 0; i < count; i += 4) {
    Four a;
    Four b;
    Four d;
    __builtin_memcpy(&a, from_a + i, sizeof a);
    __builtin_memcpy(&b, from_b + i, sizeof b);
    __builtin_memcpy(&d, from_d + i, sizeof d);
    const Four size_a = a < 0 ? -a : a;
    const Four size_b = b < 0 ? -b : b;
    const Four larger = size_a > size_b ? size_a : size_b;
    most = d > most ? d : most;
    rises |= d > bounds.rel * larger;
    beyond += d > bounds.atol + bounds.rtol * size_a;
  }
  found = {};
  for (int j = 0; j < 4; ++j) {
    found.most = most[j] > found.most ? most[j] : found.most;
    found.rises = found.rises || rises[j] != 0;
    found.beyond -= static_cast<int>(beyond[j]);
  }
}

}  // namespace
}  // namespace ttcheck::compare
