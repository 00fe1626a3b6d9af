// SPDX-License-Identifier: Apache-2.0
#pragma once
// The loops over integers of at most 16 bits of one set of kernels, held to sums told one by one.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "core/compare/kernel.hpp"
#include "tests/support/exact_kernels.hpp"

namespace ttcheck::tests {

template <class T>
void check_as_stored(const compare::Kernels& kernels, compare::Whole whole, int count,
                     std::mt19937_64& random) {
  const auto index = static_cast<std::size_t>(whole);
  const auto size = static_cast<std::size_t>(count);
  const Numbers<T> a(count, random), b(count, random, 3, &a);
  CAPTURE(index);
  CAPTURE(count);
  std::vector<std::uint32_t> steps(size);
  std::vector<double> columns(size, 3);
  kernels.integer_steps[index](a.data(), b.data(), count, steps.data());
  kernels.integer_columns[index](a.data(), b.data(), count, columns.data());
  double a2 = 0, d2 = 0;
  for (int i = 0; i < count; ++i) {
    const double x = a.at(i), d = b.at(i) - x;
    a2 += x * x;
    d2 += d * d;
    CHECK(steps[static_cast<std::size_t>(i)] == std::fabs(d));
    CHECK(columns[static_cast<std::size_t>(i)] == 3 + d * d);
  }
  const compare::Squares row = kernels.integer_row[index](a.data(), b.data(), count);
  CHECK(row.d2 == d2);
  CHECK(row.a2 == a2);
  const compare::Census census = kernels.integer_census[index](a.data(), b.data(), count);
  CHECK(census.largest == *std::ranges::max_element(steps));
  for (const std::uint32_t step : {1U, 2U, 3U}) {
    CHECK(census.of[step] == std::ranges::count(steps, step));
  }
  if constexpr (sizeof(T) == 1) {
    std::vector<std::uint32_t> small(size, 3);
    kernels.small_columns[index](a.data(), b.data(), count, small.data());
    CHECK(std::ranges::equal(small, columns));
  }
}

/// The largest sums that a block of a row can have, and the most of one step.
template <class T>
void check_farthest(const compare::Kernels& kernels, compare::Whole whole) {
  constexpr T kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
  const auto index = static_cast<std::size_t>(whole);
  const std::vector<T> a(compare::kBlock, kLeast), b(compare::kBlock, kMost);
  const double d = double{kMost} - double{kLeast};
  const compare::Squares row = kernels.integer_row[index](a.data(), b.data(), compare::kBlock);
  CHECK(row.d2 == compare::kBlock * d * d);
  CHECK(row.a2 == compare::kBlock * double{kLeast} * double{kLeast});
  const std::vector<T> near(compare::kBlock, static_cast<T>(kLeast + 3));
  const compare::Census census =
      kernels.integer_census[index](near.data(), a.data(), compare::kBlock);
  CHECK(census.largest == 3);
  CHECK(census.of[3] == compare::kBlock);
}

/// Everything that core/compare/kernel_short.hpp offers.
inline void check_short(const compare::Kernels& kernels) {
  using enum compare::Whole;
  std::mt19937_64 random(1);
  for (const int count : {1, 7, 16, 33, 100, 511, 512, 2048}) {
    check_as_stored<std::uint8_t>(kernels, u8, count, random);
    check_as_stored<std::int8_t>(kernels, i8, count, random);
    check_as_stored<std::uint16_t>(kernels, u16, count, random);
    check_as_stored<std::int16_t>(kernels, i16, count, random);
  }
  check_farthest<std::uint8_t>(kernels, u8);
  check_farthest<std::int8_t>(kernels, i8);
  check_farthest<std::uint16_t>(kernels, u16);
  check_farthest<std::int16_t>(kernels, i16);
}

}  // namespace ttcheck::tests
