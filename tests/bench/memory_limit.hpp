// SPDX-License-Identifier: Apache-2.0
#pragma once
// The yardstick of the kernel benchmarks: how fast two streams can be read at all.

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace ttcheck::bench {

/// Sum of all 64-bit words of two streams, read at proportional speed. Sizes are multiples of 256.
__attribute__((target("avx2"))) inline std::uint64_t sum_streams(const std::byte* a,
                                                                 std::size_t size_a,
                                                                 const std::byte* b,
                                                                 std::size_t size_b) {
  const auto add = [](const std::byte* at, __m256i(&sums)[4]) __attribute__((target("avx2"))) {
    for (int k = 0; k < 4; ++k) {
      sums[k] =
          _mm256_add_epi64(sums[k], _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at) + k));
    }
  };
  __m256i sums[4] = {};
  std::size_t at_b = 0;
  const std::size_t step_b = size_b / (size_a / 128) / 128 * 128;
  for (std::size_t at = 0; at < size_a; at += 128) {
    add(a + at, sums);
    const std::size_t end = step_b > 0 ? at_b + step_b : at * size_b / size_a / 128 * 128;
    for (; at_b < end; at_b += 128) add(b + at_b, sums);
  }
  alignas(32) std::uint64_t lanes[4];
  std::uint64_t total = 0;
  for (const __m256i& sum : sums) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), sum);
    for (const std::uint64_t lane : lanes) total += lane;
  }
  return total;
}

}  // namespace ttcheck::bench
