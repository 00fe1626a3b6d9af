// SPDX-License-Identifier: Apache-2.0
#pragma once
// The loops over integers and doubles of one set of kernels, held to sums that are told one by one.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "core/compare/kernel.hpp"

namespace ttcheck::tests {

__extension__ using Wide = __int128;

/// Numbers of every size of a type, its least and its largest among them; one byte off alignment.
template <class T>
struct Numbers {
  explicit Numbers(int count, std::mt19937_64& random, int equal_of = 0,
                   const Numbers* to = nullptr)
      : bytes(static_cast<std::size_t>(count) * sizeof(T) + 1) {
    using Limits = std::numeric_limits<T>;
    for (int i = 0; i < count; ++i) {
      auto value = static_cast<T>(random() >> (random() % (8 * sizeof(T))));
      if (random() % 16 == 0) value = random() % 2 == 0 ? Limits::min() : Limits::max();
      if (equal_of > 0 && random() % static_cast<unsigned>(equal_of) != 0) value = to->at(i);
      std::memcpy(data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
    }
  }

  std::byte* data() { return bytes.data() + 1; }
  const std::byte* data() const { return bytes.data() + 1; }
  T at(int i) const {
    T value;
    std::memcpy(&value, data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    return value;
  }

  std::vector<std::byte> bytes;
};

inline Wide size_of(Wide value) { return value < 0 ? -value : value; }

template <class T>
void check_integers(const compare::Kernels& kernels, compare::Whole whole, int count,
                    std::mt19937_64& random) {
  const auto index = static_cast<std::size_t>(whole);
  const auto size = static_cast<std::size_t>(count);
  const Numbers<T> a(count, random), b(count, random, 3, &a);
  CAPTURE(index);
  CAPTURE(count);
  std::vector<double> out(size);
  kernels.to_doubles[index](a.data(), count, out.data());
  std::vector<double> same(size), distance(size);
  std::vector<std::uint32_t> steps(size);
  const bool fit = kernels.integers_apart[index](a.data(), b.data(), count, same.data(),
                                                 distance.data(), steps.data());
  CHECK(same == out);
  int unequal = 0;
  Wide a2 = 0, b2 = 0, d2 = 0, most = 0;
  for (int i = 0; i < count; ++i) {
    const Wide x = a.at(i), y = b.at(i), apart = size_of(y - x);
    CHECK(out[static_cast<std::size_t>(i)] == static_cast<double>(a.at(i)));
    unequal += x != y ? 1 : 0;
    most = std::max(most, apart);
    CHECK(distance[static_cast<std::size_t>(i)] ==
          static_cast<double>(static_cast<std::uint64_t>(apart)));
    if (fit) CHECK(steps[static_cast<std::size_t>(i)] == apart);
    if (sizeof(T) > 2) continue;
    a2 += x * x;
    b2 += y * y;
    d2 += apart * apart;
  }
  CHECK(fit == (most <= std::numeric_limits<std::uint32_t>::max()));
  CHECK(kernels.unequal_codes[std::countr_zero(sizeof(T))](a.data(), b.data(), count) == unequal);
  if constexpr (sizeof(T) == 8) {
    kernels.integer_distances[std::is_signed_v<T> ? 1 : 0](a.data(), b.data(), count,
                                                           distance.data());
    for (int i = 0; i < count; ++i) {
      const Wide apart = size_of(static_cast<Wide>(b.at(i)) - static_cast<Wide>(a.at(i)));
      CHECK(distance[static_cast<std::size_t>(i)] == static_cast<double>(apart));
    }
  }
  if constexpr (sizeof(T) <= 2) {
    CHECK(kernels.integer_squares[index](a.data(), count) == static_cast<std::uint64_t>(a2));
  }
  if constexpr (sizeof(T) <= 2) {
    constexpr int kMost = (1 << (8 * sizeof(T))) - 1;
    for (const compare::Quotient& rel : {compare::Quotient{0, 1},
                                         {1, kMost},
                                         {1, 1},
                                         {kMost - 1, kMost},
                                         {kMost, kMost / 2 + 1},
                                         {2, 1}}) {
      bool rises = false;
      for (int i = 0; i < count; ++i) {
        const Wide x = a.at(i), y = b.at(i), larger = std::max(size_of(x), size_of(y));
        rises = rises || size_of(y - x) * rel.below > larger * rel.above;
      }
      compare::IntegerSums sums;
      kernels.integer_sums[index](a.data(), b.data(), count, rel, sums);
      CHECK(sums.a2 == static_cast<std::uint64_t>(a2));
      CHECK(sums.b2 == static_cast<std::uint64_t>(b2));
      CHECK(sums.d2 == static_cast<std::uint64_t>(d2));
      CHECK(sums.most == static_cast<int>(most));
      CHECK(sums.unequal == unequal);
      CHECK(sums.rises == rises);
    }
  }
}

/// Small numbers, each pair by itself: whether its quotient is above another one.
template <class T>
void check_rises(const compare::Kernels& kernels, compare::Whole whole) {
  constexpr int kLeast = std::is_signed_v<T> ? -3 : 0;
  bool same = true;
  for (int x = kLeast; x < kLeast + 7; ++x) {
    for (int y = kLeast; y < kLeast + 7; ++y) {
      const T a[] = {static_cast<T>(x), static_cast<T>(x)}, b[] = {static_cast<T>(y), a[0]};
      for (int above = 0; above < 7; ++above) {
        for (int below = 1; below < 7; ++below) {
          compare::IntegerSums sums;
          kernels.integer_sums[static_cast<std::size_t>(whole)](a, b, 2, {above, below}, sums);
          const int larger = std::max(std::abs(x), std::abs(y));
          same = same && sums.rises == (std::abs(y - x) * below > larger * above);
        }
      }
    }
  }
  CHECK(same);
}

/// The sum of squares in the order that core/compare/wide.hpp tells.
inline double lane_sum(const std::vector<double>& values) {
  std::array<double, compare::kLanes> lanes{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    lanes[i % lanes.size()] += values[i] * values[i];
  }
  for (std::size_t half = lanes.size() / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) lanes[j] += lanes[j + half];
  }
  return lanes[0];
}

inline void check_doubles(const compare::Kernels& kernels, int count, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const auto size = static_cast<std::size_t>(count);
  std::vector<double> a(size), b(size), d(size), modulus(size);
  for (std::size_t i = 0; i < size; ++i) {
    a[i] = normal(random);
    b[i] = random() % 3 == 0 ? a[i] + 1e-3 * normal(random) : a[i];
  }
  CAPTURE(count);
  kernels.distances(a.data(), b.data(), count, d.data());
  kernels.moduli(a.data(), b.data(), count, modulus.data());
  for (std::size_t i = 0; i < size; ++i) {
    CHECK(d[i] == std::fabs(b[i] - a[i]));
    CHECK(modulus[i] == std::sqrt(a[i] * a[i] + b[i] * b[i]));
  }
  CHECK(kernels.square_sum[0](a.data(), count) == lane_sum(a));
  std::vector<double> squares = a;
  for (double& value : squares) value *= value;
  CHECK(kernels.square_sum[1](squares.data(), count) == lane_sum(a));
  for (const compare::Bounds& bounds :
       {compare::Bounds{0, 0, 0}, {1e-4, 1e-4, 1e-5}, {1e-2, 0, 1e-3}, {2, 2, 2}}) {
    compare::Extremes expected;
    for (std::size_t i = 0; i < size; ++i) {
      const double larger = std::max(std::fabs(a[i]), std::fabs(b[i]));
      expected.most = std::max(expected.most, d[i]);
      expected.rises = expected.rises || d[i] > bounds.rel * larger;
      expected.beyond += d[i] > bounds.atol + bounds.rtol * std::fabs(a[i]) ? 1 : 0;
    }
    compare::Extremes found{9, true, 9};
    kernels.extremes(a.data(), b.data(), d.data(), count, bounds, found);
    CHECK(found.most == expected.most);
    CHECK(found.rises == expected.rises);
    CHECK(found.beyond == expected.beyond);
  }
  CHECK(kernels.finite(a.data(), count));
  for (const double odd : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    std::vector<double> some = a;
    some[random() % size] = odd;
    CHECK_FALSE(kernels.finite(some.data(), count));
  }
}

/// Everything that core/compare/kernel_exact.hpp offers.
inline void check_exact(const compare::Kernels& kernels) {
  using enum compare::Whole;
  std::mt19937_64 random(1);
  for (const int count : {1, 7, 16, 33, 100, 511, 512}) {
    check_integers<std::uint8_t>(kernels, u8, count, random);
    check_integers<std::int8_t>(kernels, i8, count, random);
    check_integers<std::uint16_t>(kernels, u16, count, random);
    check_integers<std::int16_t>(kernels, i16, count, random);
    check_integers<std::uint32_t>(kernels, u32, count, random);
    check_integers<std::int32_t>(kernels, i32, count, random);
    check_integers<std::uint64_t>(kernels, u64, count, random);
    check_integers<std::int64_t>(kernels, i64, count, random);
  }
  check_rises<std::uint8_t>(kernels, u8);
  check_rises<std::int8_t>(kernels, i8);
  check_rises<std::uint16_t>(kernels, u16);
  check_rises<std::int16_t>(kernels, i16);
  for (const int count : {16, 32, 48, 512}) check_doubles(kernels, count, random);
}

}  // namespace ttcheck::tests
