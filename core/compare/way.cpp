// SPDX-License-Identifier: Apache-2.0
// `further` is the part of b - a that lies along the ways and that their lengths tell:
// (|b - c|^2 - |a - c|^2) / (2 |b - a| max(|a - c|, |b - c|)). Two runs that chance moved apart
// come equally far, in whatever directions; another rate or number of steps makes one of them
// longer.

#include "core/compare/way.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/compare/sampled.hpp"

namespace ttcheck::compare {
namespace {

class Ways {
 public:
  void scale_by(std::span<const double> values) { scaled_ = Scaling(values); }

  void add(std::span<const double> a, std::span<const double> b, std::span<const double> c) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!std::isfinite(a[i]) || !std::isfinite(b[i]) || !std::isfinite(c[i])) continue;
      const double value = scaled_(a[i]);
      const double left = scaled_(a[i] - c[i]);
      const double right = scaled_(b[i] - c[i]);
      const double apart = scaled_(b[i] - a[i]);
      a_ += std::abs(value);
      left_ += std::abs(left);
      right_ += std::abs(right);
      apart_ += std::abs(apart);
      a2_ += value * value;
      left2_ += left * left;
      right2_ += right * right;
      apart2_ += apart * apart;
      along_ += apart * value;
      longest_ = std::max(longest_, std::min(std::abs(left), std::abs(right)));
      ++count_;
    }
  }

  std::optional<WaySince> way() const {
    const double gone = std::max(left_, right_);
    if (!(gone > 0) || !(a_ > 0)) return std::nullopt;
    WaySince way{.apart = apart_ / gone, .gone = gone / a_};
    way.longest = longest_ / std::sqrt(a2_ / static_cast<double>(count_));
    if (!(apart2_ > 0)) return way;
    way.further = (right2_ - left2_) / (2 * std::sqrt(apart2_ * std::max(left2_, right2_)));
    way.along = along_ / std::sqrt(apart2_ * a2_);
    return way;
  }

 private:
  Scaling scaled_;
  double a_ = 0, left_ = 0, right_ = 0, apart_ = 0;
  double a2_ = 0, left2_ = 0, right2_ = 0, apart2_ = 0, along_ = 0, longest_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace

std::optional<WaySince> way(const Pair& pair, const Tensor& base, const Stop& stop) {
  if (stop && stop()) throw Stopped();
  SampledValues values(pair, &base);
  Ways ways;
  bool first = true;
  for (const SampledRange& range : sampled_ranges(element_count(pair.reference->shape))) {
    const auto a = values.reference(range);
    if (first) ways.scale_by(a);
    first = false;
    ways.add(a, values.candidate(range), values.base(range));
  }
  return ways.way();
}

}  // namespace ttcheck::compare
