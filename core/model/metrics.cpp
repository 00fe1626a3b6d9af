// SPDX-License-Identifier: Apache-2.0
#include "core/model/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ttcheck {
namespace {

/// The larger value wins; the earlier index on a tie, since parts come in order.
void keep_larger(double& best, std::int64_t& index, double value, std::int64_t at) {
  if (at >= 0 && (index < 0 || value > best)) {
    best = value;
    index = at;
  }
}

void add(NonFinite& sum, const NonFinite& next) {
  sum.nan += next.nan;
  sum.plus_inf += next.plus_inf;
  sum.minus_inf += next.minus_inf;
}

}  // namespace

// Squares of very large or very small fp64 values overflow or vanish. Then the largest difference
// over the larger magnitude stands in: sqrt(sum d^2 / sum a^2) <= max |d| / |a|, and where |b| is
// much larger than |a| it is about 1.
double Metrics::rel() const {
  constexpr double kTooSmall = 0x1p-900;  // for a sum of squares to have all its digits
  if (!std::isfinite(sum_d2) || !std::isfinite(sum_a2) || (max_abs > 0 && sum_d2 < kTooSmall)) {
    return max_rel;
  }
  if (sum_d2 == 0) return 0;
  if (sum_a2 == 0) return std::numeric_limits<double>::infinity();
  return std::sqrt(sum_d2 / sum_a2);
}

double Metrics::rmse() const {
  return count == 0 ? 0 : std::sqrt(sum_d2 / static_cast<double>(count));
}

double Metrics::reference_rms() const {
  return count == 0 ? 0 : std::sqrt(sum_a2 / static_cast<double>(count));
}

// 1 - cos = (|d|^2 - (|a|-|b|)^2) / (2 |a| |b|), which does not cancel when a and b are close.
double Metrics::cosine() const {
  const double a = std::sqrt(sum_a2);
  const double b = std::sqrt(sum_b2);
  if (a == 0 || b == 0) return a == b ? 1 : 0;
  const double gap = a - b;
  return std::clamp(1 - (sum_d2 - gap * gap) / (2 * a * b), -1.0, 1.0);
}

double Metrics::norm_ratio() const {
  if (sum_a2 == 0) return sum_b2 == 0 ? 1 : std::numeric_limits<double>::infinity();
  return std::sqrt(sum_b2 / sum_a2);
}

bool Metrics::zero_reference() const { return taken_out == 0 && sum_a2 == 0 && sum_b2 > 0; }

bool Metrics::zero_candidate() const { return taken_out == 0 && sum_b2 == 0 && sum_a2 > 0; }

std::int64_t worst_index(const Metrics& metrics) {
  return metrics.non_finite_index >= 0 ? metrics.non_finite_index : metrics.max_abs_index;
}

void append(Metrics& sum, const Metrics& next) {
  if (next.count == 0) return;
  if (sum.count == 0) {
    sum = next;
    return;
  }
  sum.count += next.count;
  sum.unequal_bits += next.unequal_bits;
  sum.unequal_values += next.unequal_values;
  sum.beyond_close += next.beyond_close;
  keep_larger(sum.max_abs, sum.max_abs_index, next.max_abs, next.max_abs_index);
  keep_larger(sum.max_rel, sum.max_rel_index, next.max_rel, next.max_rel_index);
  keep_larger(sum.max_quotient, sum.max_quotient_index, next.max_quotient, next.max_quotient_index);
  sum.sum_d2 += next.sum_d2;
  sum.sum_a2 += next.sum_a2;
  sum.sum_b2 += next.sum_b2;
  sum.taken_out += next.taken_out;
  sum.max_block_d2 = std::max(sum.max_block_d2, next.max_block_d2);
  add(sum.reference, next.reference);
  add(sum.candidate, next.candidate);
  sum.non_finite_disagree += next.non_finite_disagree;
  if (sum.non_finite_index < 0) sum.non_finite_index = next.non_finite_index;
  sum.reference_constant =
      sum.reference_constant && next.reference_constant && sum.constant_bits == next.constant_bits;
  sum.rounds_to_candidate = sum.rounds_to_candidate && next.rounds_to_candidate;
  sum.rounds_to_reference = sum.rounds_to_reference && next.rounds_to_reference;
}

}  // namespace ttcheck
