// SPDX-License-Identifier: Apache-2.0
// Elements are counted by the exponent of the reference. The highest exponents are the value v, if
// what lies there is v, or v and a number to which v was added (a mask adds v to scores: what is
// stored is v + s rounded, and |s| is at most the largest of the rest, so that two of them are at
// most four times that apart). A limit L admits differences up to L |A|. The rest is hidden where
// its norm is less than that, and each of its elements less than L |v|.
//
// No such value: 1, at which softmax, sigmoid and tanh end, since small values beside one are
// exponentials whose errors follow from how large their exponents are.

#include "core/compare/sentinel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/checked.hpp"
#include "core/compare/ordered.hpp"
#include "core/compare/pair_values.hpp"
#include "core/compare/values.hpp"

namespace ttcheck::compare {
namespace {

constexpr int kLowest = -64;               // smaller exponents count as this one: v is beyond 1
constexpr std::int64_t kSampled = 32;      // ranges of the sample: one, then twice as many,
constexpr std::int64_t kSampleRange = 64;  // and elements of each; a multiple of 8
constexpr double kWide = 4;                // how many times its size a sample may be wrong

/// Elements whose exponent is the same.
struct Stratum {
  std::int64_t count = 0;
  double a2 = 0, d2 = 0;
  double apart = 0;                // largest |b - a|
  double lowest = 0, highest = 0;  // of a

  void add(double a, double b) {
    lowest = count == 0 ? a : std::min(lowest, a);
    highest = count == 0 ? a : std::max(highest, a);
    ++count;
    a2 += a * a;
    d2 += (b - a) * (b - a);
    apart = std::max(apart, std::abs(b - a));
  }

  void append(const Stratum& next) {
    if (next.count == 0) return;
    lowest = count == 0 ? next.lowest : std::min(lowest, next.lowest);
    highest = count == 0 ? next.highest : std::max(highest, next.highest);
    count += next.count;
    a2 += next.a2;
    d2 += next.d2;
    apart = std::max(apart, next.apart);
  }

  double largest() const { return std::max(std::abs(lowest), std::abs(highest)); }
};

/// Sums by exponent, the lowest first; zeros are with the smallest numbers. As many as are needed.
class Strata {
 public:
  void add(std::span<const double> a, std::span<const double> b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
      const int exponent = a[i] == 0 ? kLowest : std::max(std::ilogb(a[i]), kLowest);
      const auto place = static_cast<std::size_t>(exponent - kLowest);
      if (place >= of_.size()) of_.resize(place + 1);
      of_[place].add(a[i], b[i]);
    }
  }

  void append(const Strata& next) {
    of_.resize(std::max(of_.size(), next.of_.size()));
    for (std::size_t i = 0; i < next.of_.size(); ++i) of_[i].append(next.of_[i]);
  }

  /// The highest exponent's elements and those of the next lower one, and all others.
  void split(Stratum& top, std::vector<Stratum>& rest) const {
    top = {};
    rest.clear();
    std::size_t i = of_.size();
    while (i > 0 && of_[i - 1].count == 0) --i;
    if (i == 0) return;
    top = of_[i - 1];
    if (i > 1) top.append(of_[i - 2]);
    for (std::size_t k = 0; k + 2 < i; ++k) {
      if (of_[k].count > 0) rest.push_back(of_[k]);
    }
  }

 private:
  std::vector<Stratum> of_;
};

double norm2(const std::vector<Stratum>& strata) {
  double sum = 0;
  for (const Stratum& one : strata) sum += one.a2;
  return sum;
}

/// Nothing where `top` is not one value, or the rest is not hidden by it.
std::optional<Sentinel> judged(const Stratum& top, const std::vector<Stratum>& rest, double all_a2,
                               double limit) {
  if (rest.empty() || top.lowest * top.highest <= 0) return std::nullopt;
  const double largest = rest.back().largest(), value = top.largest();
  if (value <= 1 || largest > limit * value) return std::nullopt;
  if (std::max(top.highest - top.lowest, top.apart) > 4 * largest) return std::nullopt;
  if (norm2(rest) > limit * limit * all_a2) return std::nullopt;
  Sentinel found;
  found.value = top.highest > 0 ? top.highest : top.lowest;
  found.count = top.count;
  Stratum sum;
  for (const Stratum& one : rest) sum.append(one);
  found.rel = sum.d2 == 0 ? 0 : std::sqrt(sum.d2 / sum.a2);
  const double rms = std::sqrt(sum.a2 / static_cast<double>(sum.count));
  for (const Stratum& one : rest) {
    if (one.apart == 0) continue;
    found.outlier = std::max(found.outlier, one.apart / std::max(one.largest(), rms));
  }
  return found;
}

/// Some ranges of the reference, evenly over it.
struct Sample {
  Stratum top;
  std::vector<Stratum> rest;
  std::int64_t count = 0;

  /// What is certainly not the value is in sum more than the value could hide.
  bool excludes(double all_a2, double limit) const { return norm2(rest) > limit * limit * all_a2; }

  /// It shows the value, or holds so much less than its share of the norm that the value must lie
  /// between its ranges.
  bool suggests(double all_a2, double limit, std::int64_t of) const {
    if (rest.empty()) return true;
    if (rest.back().largest() <= kWide * limit * top.largest()) return true;
    const double share = static_cast<double>(count) / static_cast<double>(of);
    return top.a2 + norm2(rest) <= kWide * limit * limit * all_a2 * share;
  }
};

/// Asks the reference alone, and of most tensors a few elements: two of different size exclude it.
bool may_hide(const Pair& pair, const Metrics& metrics, double limit) {
  const std::int64_t count = element_count(pair.reference->shape);
  const std::int64_t apart = std::max(count / kSampled, kSampleRange) / 8 * 8;
  Strata strata;
  PairValues values(pair);
  Sample sample;
  for (std::int64_t every = kSampled; every > 0; every /= 2) {
    for (std::int64_t i = 0; i < kSampled; i += every) {
      const bool is_read = every < kSampled && i % (every * 2) == 0;
      const std::int64_t begin = checked_mul(apart, i);
      const std::int64_t size = std::min(kSampleRange, count - begin);
      if (is_read || size <= 0) continue;
      const auto a = values.reference(begin, size);
      strata.add(a, a);
      sample.count += size;
    }
    strata.split(sample.top, sample.rest);
    if (sample.excludes(metrics.sum_a2, limit)) return false;
  }
  return sample.suggests(metrics.sum_a2, limit, count);
}

}  // namespace

std::optional<Sentinel> find_sentinel(const Pair& pair, const Metrics& metrics, double limit,
                                      const Stop& stop) {
  if (!has_real_values(pair) || !std::isfinite(metrics.sum_a2)) return std::nullopt;
  if (!may_hide(pair, metrics, limit)) return std::nullopt;
  const std::int64_t count = element_count(pair.reference->shape);
  Strata all;
  const auto work = [&](std::size_t task) {
    if (stop && stop()) throw Stopped();
    Strata part;
    const std::int64_t begin = static_cast<std::int64_t>(task) * kValuesRange;
    PairValues values(pair);
    const std::int64_t size = std::min(kValuesRange, count - begin);
    part.add(values.reference(begin, size), values.candidate(begin, size));
    return part;
  };
  fold_in_order(static_cast<std::size_t>(ceil_div(count, kValuesRange)), work,
                [&](std::size_t, Strata&& part) { all.append(part); });
  Stratum top;
  std::vector<Stratum> rest;
  all.split(top, rest);
  return judged(top, rest, norm2(rest) + top.a2, limit);
}

}  // namespace ttcheck::compare
