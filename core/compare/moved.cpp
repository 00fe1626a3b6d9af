#include "core/compare/moved.hpp"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "core/compare/sampled.hpp"

namespace ttcheck::compare {
namespace {

constexpr int kParts = 16;

/// Sums of one tensor's ranges.
class Apart {
 public:
  /// `first`: the place of the first of them, of `all`.
  void add(std::span<const double> a, std::span<const double> b, std::int64_t first,
           std::int64_t all) {
    const std::size_t part = part_of(first, all);
    const bool within = part_of(first + std::ssize(a), all) == part;
    double d2 = 0;
    bool differs = false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
      const double left = scaled_(a[i]), apart = scaled_(b[i] - a[i]);
      a_ += std::abs(left);
      a2_ += left * left;
      d_ += std::abs(apart);
      d2 += apart * apart;
      spike_ = std::max(spike_, std::abs(apart));
      ++count_;
      differs = differs || apart != 0;
      if (apart != 0 && !within) differ_.set(part_of(first + static_cast<std::int64_t>(i), all));
    }
    if (differs && within) differ_.set(part);
    block_d2_ = std::max(block_d2_, d2);
  }

  void scale_by(std::span<const double> values) { scaled_ = Scaling(values); }

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

  Scaling scaled_;
  double a_ = 0, a2_ = 0, d_ = 0, block_d2_ = 0, spike_ = 0;
  std::int64_t count_ = 0;
  std::bitset<kParts> differ_;
};

}  // namespace

Moved moved(const Pair& pair, const Stop& stop) {
  if (stop && stop()) throw Stopped();
  const std::int64_t count = element_count(pair.reference->shape);
  SampledValues values(pair);
  Apart sums;
  std::int64_t longest = 0;
  for (const SampledRange& range : sampled_ranges(count)) {
    const auto a = values.reference(range);
    if (longest == 0) sums.scale_by(a);
    longest = std::max(longest, range.count);
    sums.add(a, values.candidate(range), range.begin, count);
  }
  return sums.moved(longest);
}

}  // namespace ttcheck::compare
