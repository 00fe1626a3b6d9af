// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one fused pass over a pair of tensors yields. A is the reference, B the candidate.
// Sums: fp32 lanes in one fixed order, flushed to fp64 every 512 elements (fp64 throughout for f64,
// complex and --exact-sums; those of integers are exact up to 2^53); the order follows the logical
// index, so sharding, threads and instruction set change nothing.

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/model/box.hpp"

namespace ttcheck {

struct NonFinite {
  std::int64_t nan = 0, plus_inf = 0, minus_inf = 0;

  bool any() const { return nan > 0 || plus_inf > 0 || minus_inf > 0; }

  bool operator==(const NonFinite&) const = default;
};

/// Indices are row-major linear indices of the logical tensor; -1 where there is none; the lowest
/// on ties.
struct Metrics {
  std::int64_t count = 0;  ///< elements compared
  std::int64_t unequal_bits =
      0;  ///< after both were widened to the common dtype (NaN of another dtype: equal)
  std::int64_t unequal_values = 0;  ///< unequal_bits less -0 against +0 and NaN against NaN
  std::int64_t beyond_close = 0;  ///< |b-a| > atol + rtol |a|, torch.testing.assert_close defaults
  double max_abs = 0;             ///< largest finite |b-a|
  std::int64_t max_abs_index = -1;
  double max_rel = 0;  ///< largest |b-a| / max(|a|, |b|)
  std::int64_t max_rel_index = -1;
  double max_quotient = 0;  ///< largest |b-a| / (atol + rtol |a|) where a tolerance was given
  std::int64_t max_quotient_index = -1;
  double sum_d2 = 0, sum_a2 = 0, sum_b2 = 0;  ///< over places that are finite on both sides
  std::int64_t taken_out = 0;                 ///< places that are not
  double max_block_d2 = 0;                    ///< largest sum of d^2 over 512 consecutive elements
  NonFinite reference{}, candidate{};
  std::int64_t non_finite_disagree = 0;  ///< NaN or Inf on one side only, or Inf of the other sign
  std::int64_t non_finite_index = -1;    ///< the first such place
  bool reference_constant = true;        ///< all elements of A have the same bits
  std::array<std::uint64_t, 2>
      constant_bits{};  ///< those bits, while it is so (two words for c128)
  bool rounds_to_candidate =
      false;  ///< B == A rounded (nearest even) to B's coarser dtype, everywhere
  bool rounds_to_reference = false;  ///< A == B rounded to A's coarser dtype, everywhere

  bool operator==(const Metrics&) const = default;

  double rel() const;   ///< sqrt(sum_d2 / sum_a2); 0 if both norms are 0, infinite if only A's is;
                        ///< max_rel where the sums are beyond the range of fp64
  double rmse() const;  ///< sqrt(sum_d2 / count)
  double reference_rms() const;  ///< sqrt(sum_a2 / count)
  double cosine() const;  ///< from the differences, so 1 - cosine keeps its digits; nan where the
                          ///< sums are beyond the range of fp64
  double norm_ratio() const;    ///< |B| / |A|; nan where both are
  bool zero_reference() const;  ///< all zeros, and B is not
  bool zero_candidate() const;  ///< all zeros, and A is not
};

/// The worst element: a NaN/Inf disagreement first, else max |b-a|; -1 if all is equal.
std::int64_t worst_index(const Metrics& metrics);

/// Partial results of consecutive parts of one pair, `next` after `sum`. Exact order, exact result.
void append(Metrics& sum, const Metrics& next);

/// Second-pass results; only for tensors that need them.
struct Detail {
  double row_error =
      0;  ///< worst row: |d_row| / max(|a_row|, rms row norm); rows run along the last dim
  std::int64_t row = -1;  ///< its number; -1: below 2-D
  double outlier = 0;     ///< largest |b-a| / max(|a|, rms of A)
  std::int64_t outlier_index = -1;
  std::int64_t column = -1;  ///< index along the last dim with the largest sum of d^2
  std::vector<std::pair<double, std::uint64_t>>
      ulp_quantiles;  ///< (quantile, distance in units of the coarser dtype)
};

/// How far apart two stored states have one tensor, told from some of its elements (all of a small
/// one). Beside means of magnitudes, a few elements that went the other way count for little, and
/// a store of 16 bits, which turns an element with the probability |b - a| / ulp, for nothing.
struct Moved {
  double distance = 0;  ///< sum |b - a| / sum |a|; infinite where only A is all zeros
  double block = 0;     ///< largest rms of b - a over 512 elements / rms of A
  double spike = 0;     ///< largest |b - a| / rms of A
  int parts = 0;        ///< how many of sixteen parts of the tensor have a difference

  bool operator==(const Moved&) const = default;
};

/// One value that both sides hold at the same places and that makes most of their norm, and what
/// the rest of the tensor is by itself.
struct Sentinel {
  double value = 0;        ///< the reference's; where it was added to others, one of the sums
  std::int64_t count = 0;  ///< elements that are it
  double rel = 0;          ///< ||B - A|| / ||A|| of the others
  double outlier = 0;      ///< of the others, at least
};

/// How wrong one rank's pieces are by themselves.
struct RankError {
  std::int32_t rank = 0;
  Metrics metrics;
};

}  // namespace ttcheck
