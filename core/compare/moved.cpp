#include "core/compare/moved.hpp"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/base/checked.hpp"
#include "core/compare/pair_values.hpp"

namespace ttcheck::compare {
namespace {

constexpr std::int64_t kRanges = 32;
constexpr std::int64_t kLength = 512;

constexpr int kParts = 16;

/// Sums of one tensor's ranges. Divided by a power of two, so that no square is beyond what a
/// double holds.
class Apart {
 public:
  /// `first`: the place of the first of them, of `all`.
  void add(std::span<const double> a, std::span<const double> b, std::int64_t first,
           std::int64_t all) {
    double d2 = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
      const double left = std::ldexp(a[i], -scale_), apart = std::ldexp(b[i] - a[i], -scale_);
      a_ += std::abs(left);
      a2_ += left * left;
      d_ += std::abs(apart);
      d2 += apart * apart;
      spike_ = std::max(spike_, std::abs(apart));
      ++count_;
      if (apart != 0) differ_.set(part_of(first + static_cast<std::int64_t>(i), all));
    }
    block_d2_ = std::max(block_d2_, d2);
  }

  void scale_by(double largest) { scale_ = largest > 0 ? std::ilogb(largest) : 0; }

  Moved moved(std::int64_t length) const {
    if (d_ == 0) return {};
    const double rms = std::sqrt(a2_ / static_cast<double>(count_));
    const int parts = static_cast<int>(differ_.count());
    if (rms == 0) {
      constexpr double kInfinite = std::numeric_limits<double>::infinity();
      return {kInfinite, kInfinite, kInfinite, parts};
    }
    const double block = std::sqrt(block_d2_ / static_cast<double>(length));
    return {d_ / a_, block / rms, spike_ / rms, parts};
  }

 private:
  static std::size_t part_of(std::int64_t at, std::int64_t all) {
    return static_cast<std::size_t>(static_cast<double>(at) / static_cast<double>(all) * kParts);
  }

  int scale_ = 0;
  double a_ = 0, a2_ = 0, d_ = 0, block_d2_ = 0, spike_ = 0;
  std::int64_t count_ = 0;
  std::bitset<kParts> differ_;
};

/// To nearest even, as a store with this spacing at 1 does; what is below its normal numbers keeps
/// its digits.
double rounded(double value, double eps) {
  if (!std::isfinite(value) || value == 0) return value;
  const double unit = std::ldexp(eps, std::ilogb(value));
  return std::nearbyint(value / unit) * unit;
}

/// Of two stores the finer side is rounded as the coarser one was.
class Values {
 public:
  explicit Values(const Pair& pair)
      : values_(pair),
        a_eps_(epsilon(pair.reference->dtype)),
        b_eps_(epsilon(pair.candidate->dtype)) {}

  std::span<const double> reference(std::int64_t begin, std::int64_t count) {
    return a_eps_ < b_eps_ ? as(values_.reference(begin, count), b_eps_)
                           : values_.reference(begin, count);
  }
  std::span<const double> candidate(std::int64_t begin, std::int64_t count) {
    return b_eps_ < a_eps_ ? as(values_.candidate(begin, count), a_eps_)
                           : values_.candidate(begin, count);
  }

 private:
  std::span<const double> as(std::span<const double> values, double eps) {
    made_.assign(values.begin(), values.end());
    for (double& value : made_) value = rounded(value, eps);
    return made_;
  }

  PairValues values_;
  double a_eps_, b_eps_;
  std::vector<double> made_;
};

double largest_of(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

}  // namespace

Moved moved(const Pair& pair, const Stop& stop) {
  if (stop && stop()) throw Stopped();
  const std::int64_t count = element_count(pair.reference->shape);
  const std::int64_t apart = std::max(count / kRanges / 8 * 8, kLength);
  Values values(pair);
  Apart sums;
  for (std::int64_t i = 0; i < kRanges; ++i) {
    const std::int64_t begin = checked_mul(apart, i), size = std::min(kLength, count - begin);
    if (size <= 0) break;
    const auto a = values.reference(begin, size);
    if (i == 0) sums.scale_by(largest_of(a));
    sums.add(a, values.candidate(begin, size), begin, count);
  }
  return sums.moved(std::min(kLength, count));
}

}  // namespace ttcheck::compare
