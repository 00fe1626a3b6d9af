// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the loops over complex numbers promise, told one by one.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "core/compare/kernel.hpp"
#include "core/compare/ulp.hpp"

namespace ttcheck::tests {

/// Pairs of parts, some equal, some zeros of either sign, some at the ends of the range.
inline std::vector<float> parts_of(int count, std::mt19937_64& random) {
  std::normal_distribution<float> normal;
  std::vector<float> parts(2 * static_cast<std::size_t>(count));
  for (float& part : parts) {
    const std::uint64_t kind = random() % 16;
    part = kind == 0 ? 0.0F : kind == 1 ? -0.0F : normal(random);
    if (kind == 2) part *= 0x1p127F / 8;
    if (kind == 3) part *= 0x1p-140F;
  }
  return parts;
}

/// What core/compare/kernel_complex.hpp offers, at an address that no float has.
inline void check_complex(const compare::Kernels& kernels) {
  std::mt19937_64 random(3);
  const auto unit = compare::unit_format(DType::f32, DType::f32, DType::f32);
  for (const int count : {1, 7, 16, 255, 256, 257, 2048}) {
    CAPTURE(count);
    const std::vector<float> a = parts_of(count, random);
    std::vector<float> b = a;
    for (float& part : b) part = random() % 3 == 0 ? -part : random() % 2 == 0 ? part * 1.5F : part;
    std::vector<std::byte> odd_a(a.size() * 4 + 1), odd_b(odd_a.size());
    std::memcpy(odd_a.data() + 1, a.data(), a.size() * 4);
    std::memcpy(odd_b.data() + 1, b.data(), b.size() * 4);
    const auto size = static_cast<std::size_t>(count);
    std::vector<double> a2(size), b2(size), d2(size);
    std::vector<std::uint32_t> steps(size);
    CHECK(kernels.squares_apart(odd_a.data() + 1, odd_b.data() + 1, count, a2.data(), b2.data(),
                                d2.data()));
    std::vector<double> alone(size);
    kernels.square_moduli(odd_a.data() + 1, count, alone.data());
    CHECK(alone == a2);
    kernels.complex_steps(odd_a.data() + 1, odd_b.data() + 1, count, *unit, steps.data());
    std::vector<double> roots = a2;
    kernels.roots(roots.data(), count);
    bool same = true;
    for (std::size_t i = 0; i < size; ++i) {
      const double re_a = a[2 * i], im_a = a[2 * i + 1], re_b = b[2 * i], im_b = b[2 * i + 1];
      const double re = re_b - re_a, im = im_b - im_a;
      same = same && a2[i] == re_a * re_a + im_a * im_a && b2[i] == re_b * re_b + im_b * im_b;
      same = same && d2[i] == re * re + im * im && (d2[i] == 0) == (re == 0 && im == 0);
      same = same && roots[i] == std::sqrt(a2[i]);
      same = same && steps[i] == std::max(compare::ulp_distance(DType::f32, re_a, re_b),
                                          compare::ulp_distance(DType::f32, im_a, im_b));
    }
    CHECK(same);
  }
}

}  // namespace ttcheck::tests
