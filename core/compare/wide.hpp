// SPDX-License-Identifier: Apache-2.0
#pragma once
// The fp64 way of measuring a block: wide dtypes, exact sums, and blocks whose fp32 sums
// overflowed, lost bits or met NaN.
//
// Order of sums: as in kernel.hpp with fp64 lanes, squares rounded before they are added.

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/compare/kernel.hpp"
#include "core/compare/rule.hpp"
#include "core/model/metrics.hpp"

namespace ttcheck::compare {

/// One block decoded: values, or moduli for complex dtypes, and |b-a|. Places that are not finite
/// on both sides are zero in all three.
struct WideBlock {
  alignas(64) double a[kBlock];
  alignas(64) double b[kBlock];
  alignas(64) double d[kBlock];
  alignas(64) double parts[4][kBlock];  ///< real and imaginary parts of a, then of b
};

/// What one thread needs to measure a block.
struct Scratch {
  WideBlock wide;
  alignas(64) float a[kBlock];  ///< decoded, or a short block padded
  alignas(64) float b[kBlock];
  std::uint32_t steps[kBlock];   ///< of ULPs, in the second pass
  std::uint8_t codes_a[kBlock];  ///< packed dtypes, one code a byte
  std::uint8_t codes_b[kBlock];
};

enum class Unequal : bool { passed_over, counted };

/// Stored elements from `at` on, one byte a code for packed dtypes (then in `codes`). REQUIRES `at`
/// a multiple of 8 for packed dtypes.
const std::byte* stored_at(DType dtype, std::span<const std::byte> bytes, std::int64_t at,
                           int count, std::uint8_t* codes);

/// Adds a block of which both sides have the same bits. False where it holds what is not finite:
/// then nothing is added.
bool add_equal_block(const Rule& rule, const std::byte* stored, int count, WideBlock& block,
                     Metrics& metrics);

/// Decodes `count` elements of both sides and counts into `metrics` what depends on their bits:
/// unequal_bits, unequal_values, non-finite numbers and their disagreement (which is beyond_close
/// too). `a` and `b` are in stored form, one byte a code for packed dtypes. With
/// Unequal::passed_over the first two are left as they are, and so may `block.b` be of complex
/// ones.
void decode_block(const Rule& rule, const std::byte* a, const std::byte* b, int count,
                  std::int64_t base, WideBlock& block, Metrics& metrics,
                  Unequal unequal = Unequal::counted);

/// Sums, maxima and beyond_close of a decoded block. What lies behind its elements is overwritten.
void sum_block(const Rule& rule, WideBlock& block, int count, std::int64_t base, Metrics& metrics);

/// Counts unequal bits and values of a decoded block whose numbers are finite: their distance is 0
/// where they are equal, and nowhere else.
void count_unequal_finite(const Rule& rule, const std::byte* a, const std::byte* b, int count,
                          const WideBlock& block, Metrics& metrics);

/// Sums of at most kFlush elements of a padded block from `part` on, whose numbers `as` tells.
void add_sums(const Rule& rule, As as, const WideBlock& block, int part, int count,
              Metrics& metrics);

/// Zeros behind the elements of a decoded block, up to whole vectors.
void pad(WideBlock& block, int count);

/// Maxima and beyond_close of at most kFlush elements of a decoded and padded block from `part` on.
void raise(const Rule& rule, const WideBlock& block, int part, int count, std::int64_t base,
           Metrics& metrics);

/// max_quotient of a decoded block. REQUIRES a tolerance in the rule.
void quotient_block(const Rule& rule, const WideBlock& block, int count, std::int64_t base,
                    Metrics& metrics);

}  // namespace ttcheck::compare
