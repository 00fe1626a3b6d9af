// SPDX-License-Identifier: Apache-2.0
#include "core/compare/moved.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "core/compare/sampled.hpp"

namespace ttcheck::compare {
namespace {

constexpr int kParts = 16;

/// Sums of scaled values, of every fourth one by itself: none waits for another.
struct LaneSums {
  using Lanes = Eigen::Array4d;
  static constexpr std::size_t kLanes = 4;
  Lanes a = Lanes::Zero(), a2 = a, d = a, d2 = a, spike = a;

  void add(const double* left, const double* right, const Scaling& scaled) {
    const Eigen::Map<const Lanes> from(left), to(right);
    const Lanes value = scaled(Lanes(from)).abs(), apart = scaled(Lanes(to - from)).abs();
    a += value;
    a2 += value.square();
    d += apart;
    d2 += apart.square();
    spike = spike.max(apart);
  }

  void add_all(std::span<const double> left, std::span<const double> right, const Scaling& scaled) {
    const std::size_t whole = left.size() - left.size() % kLanes;
    for (std::size_t i = 0; i < whole; i += kLanes) add(&left[i], &right[i], scaled);
    std::array<double, kLanes> from{}, to{};
    std::ranges::copy(left.subspan(whole), from.begin());
    std::ranges::copy(right.subspan(whole), to.begin());
    add(from.data(), to.data(), scaled);
  }

  bool finite() const { return std::isfinite((a2 + d2).sum()); }
};

/// Sums of one tensor's ranges.
class Apart {
 public:
  /// `first`: the place of the first of them, of `all`.
  void add(std::span<const double> a, std::span<const double> b, std::int64_t first,
           std::int64_t all) {
    LaneSums sums;
    sums.add_all(a, b, scaled_);
    if (!sums.finite()) {
      count_ -= leave_out(a, b);
      a = a_values_, b = b_values_;
      sums = {};
      sums.add_all(a, b, scaled_);
    }
    count_ += std::ssize(a);
    a_ += sums.a.sum();
    a2_ += sums.a2.sum();
    d_ += sums.d.sum();
    block_d2_ = std::max(block_d2_, sums.d2.sum());
    look_at_constant(a);
    const double spike = sums.spike.maxCoeff();
    spike_ = std::max(spike_, spike);
    if (spike > 0) set_parts(a, b, first, all);
  }

  void scale_by(std::span<const double> values) { scaled_ = Scaling(values); }

  Sampled sampled(std::int64_t length) const { return {moved(length), constant_, disagrees_}; }

 private:
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

  void look_at_constant(std::span<const double> a) {
    if (!first_) first_ = a.front();
    constant_ = constant_ && std::ranges::all_of(a, [&](double value) { return value == *first_; });
  }

  /// Places that are not finite on both sides are 0. The number of them.
  std::int64_t leave_out(std::span<const double> a, std::span<const double> b) {
    a_values_.assign(a.begin(), a.end());
    b_values_.assign(b.begin(), b.end());
    std::int64_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (std::isfinite(a[i]) && std::isfinite(b[i])) continue;
      const bool both_nan = std::isnan(a[i]) && std::isnan(b[i]);
      disagrees_ = disagrees_ || (a[i] != b[i] && !both_nan);
      a_values_[i] = b_values_[i] = 0;
      ++count;
    }
    return count;
  }

  void set_parts(std::span<const double> a, std::span<const double> b, std::int64_t first,
                 std::int64_t all) {
    const std::int64_t end = first + std::ssize(a);
    for (std::int64_t part = 0, to = 0; part < kParts; ++part) {
      const std::int64_t from = std::max(to, first);
      to = begin_of(part + 1, all);
      if (from >= std::min(to, end)) continue;
      const auto at = static_cast<std::size_t>(from - first);
      const auto count = static_cast<std::size_t>(std::min(to, end) - from);
      const auto mine = a.subspan(at, count), other = b.subspan(at, count);
      if (!std::ranges::equal(mine, other)) differ_.set(static_cast<std::size_t>(part));
    }
  }

  /// The first element of a part, rounded up: no product of theirs is above what a size may be.
  static std::int64_t begin_of(std::int64_t part, std::int64_t all) {
    return all / kParts * part + (all % kParts * part + kParts - 1) / kParts;
  }

  Scaling scaled_;
  double a_ = 0, a2_ = 0, d_ = 0, block_d2_ = 0, spike_ = 0;
  std::int64_t count_ = 0;
  std::optional<double> first_;
  bool constant_ = true, disagrees_ = false;
  std::bitset<kParts> differ_;
  std::vector<double> a_values_, b_values_;  ///< of a range where not all are finite
};

}  // namespace

namespace {

Sampled sampled(SampledValues& values, std::int64_t count) {
  Apart sums;
  std::int64_t longest = 0;
  for (const SampledRange& range : sampled_ranges(count)) {
    const auto a = values.reference(range);
    if (longest == 0) sums.scale_by(a);
    longest = std::max(longest, range.count);
    sums.add(a, values.candidate(range), range.begin, count);
  }
  return sums.sampled(longest);
}

}  // namespace

Sampled sampled(const Pair& pair, const Stop& stop) {
  if (stop && stop()) throw Stopped();
  SampledValues values(pair);
  return sampled(values, element_count(pair.reference->shape));
}

Sampled sampled(const Pair& pair, const WholeBytes& bytes) {
  SampledValues values(pair, bytes);
  return sampled(values, element_count(pair.reference->shape));
}

}  // namespace ttcheck::compare
