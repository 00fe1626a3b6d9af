// SPDX-License-Identifier: Apache-2.0
#include "core/recompute/mismatch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/model/decode.hpp"

namespace ttcheck::recompute {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kLeastShare = 0x1p-10;

bool same_number(double expected, double dumped, DType dtype) {
  if (std::isnan(expected)) return std::isnan(dumped);
  return std::isinf(dumped) && value_of(dtype, code_of(dtype, expected)) == dumped;
}

}  // namespace

void Mismatch::add(std::int64_t begin, std::span<const double> expected,
                   std::span<const double> dumped, DType dtype) {
  for (std::size_t at = 0; at < expected.size();) {
    const std::int64_t from = begin + static_cast<std::int64_t>(at);
    const auto left = static_cast<std::size_t>(width_ - from % width_);
    const std::size_t size = std::min(left, expected.size() - at);
    add_row(from, expected.subspan(at, size), dumped.subspan(at, size), dtype);
    at += size;
  }
}

void Mismatch::add_row(std::int64_t begin, std::span<const double> expected,
                       std::span<const double> dumped, DType dtype) {
  double d2 = 0, y2 = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double y = expected[i], d = std::fabs(dumped[i] - y);
    const std::int64_t index = begin + static_cast<std::int64_t>(i);
    if (!std::isfinite(d)) {
      if (!not_finite_ && !same_number(y, dumped[i], dtype)) not_finite_ = index;
      continue;
    }
    y2 += y * y;
    d2 += d * d;
    raise(elements_, {d, std::fabs(y), index});
  }
  count_ += static_cast<std::int64_t>(expected.size());
  sum_d2_ += d2;
  sum_y2_ += y2;
  raise(rows_, {std::sqrt(d2), std::sqrt(y2), begin});
}

void Mismatch::raise(Peaks& peaks, const Peak& peak) {
  constexpr int kHalf = kBinades / 2;
  const int binade = std::clamp(std::ilogb(peak.size), -kHalf, kHalf - 1);  // of zero the least
  Peak& top = peaks[static_cast<std::size_t>(kHalf + binade)];
  if (peak.error > top.error) top = peak;
}

Mismatch::Peak Mismatch::highest(const Peaks& peaks, double least) {
  Peak found;
  for (const Peak& peak : peaks) {
    const double size = std::max(peak.size, least);
    const double error = peak.error / size;  // without a peak 0, or 0 / 0, which is never more
    if (error > found.error) found = {error, size, peak.index};
  }
  return found;
}

void Mismatch::append(const Mismatch& next) {
  count_ += next.count_;
  sum_d2_ += next.sum_d2_;
  sum_y2_ += next.sum_y2_;
  if (!not_finite_) not_finite_ = next.not_finite_;
  for (const Peak& peak : next.elements_) raise(elements_, peak);
  for (const Peak& peak : next.rows_) raise(rows_, peak);
}

bool Mismatch::measured() const { return std::isfinite(sum_y2_); }

double Mismatch::rms() const { return std::sqrt(sum_y2_ / static_cast<double>(count_)); }

double Mismatch::rel() const { return sum_d2_ == 0 ? 0 : std::sqrt(sum_d2_ / sum_y2_); }

double Mismatch::row() const {
  return highest(rows_, rms() * std::sqrt(static_cast<double>(width_))).error;
}

double Mismatch::outlier() const {
  return not_finite_ ? kInfinite : highest(elements_, rms()).error;
}

std::int64_t Mismatch::worst() const {
  return not_finite_ ? *not_finite_ : highest(elements_, rms()).index;
}

double Mismatch::share() const {
  return not_finite_ ? kInfinite : highest(elements_, kLeastShare * rms()).error;
}

std::int64_t Mismatch::worst_share() const {
  return not_finite_ ? *not_finite_ : highest(elements_, kLeastShare * rms()).index;
}

}  // namespace ttcheck::recompute
