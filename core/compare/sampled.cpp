// SPDX-License-Identifier: Apache-2.0
#include "core/compare/sampled.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/checked.hpp"

namespace ttcheck::compare {
namespace {

constexpr std::int64_t kRanges = 32;
constexpr std::int64_t kLength = kMostSampled / kRanges;

/// The value rounded to nearest even, as a store with this spacing at 1 does; what is below its
/// normal numbers keeps its digits.
double rounded(double value, double eps) {
  if (!std::isfinite(value) || value == 0) return value;
  const double unit = std::ldexp(eps, std::ilogb(value));
  return std::nearbyint(value / unit) * unit;
}

}  // namespace

std::vector<SampledRange> sampled_ranges(std::int64_t count) {
  const std::int64_t apart = std::max(count / kRanges / 8 * 8, kLength);
  std::vector<SampledRange> ranges;
  for (std::int64_t i = 0; i < kRanges; ++i) {
    const std::int64_t begin = checked_mul(apart, i), size = std::min(kLength, count - begin);
    if (size <= 0) break;
    ranges.push_back({begin, size});
  }
  return ranges;
}

Scaling::Scaling(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  const int scale = largest > 0 ? std::ilogb(largest) : 0;
  first_ = std::ldexp(1, -scale / 2);
  second_ = std::ldexp(1, -scale - -scale / 2);
}

SampledValues::SampledValues(const Pair& pair, const Tensor* base)
    : pair_(pair),
      values_(pair),
      eps_(std::max(epsilon(pair.reference->dtype), epsilon(pair.candidate->dtype))) {
  if (base == nullptr) return;
  ancestors_.reference = ancestors_.candidate = base;
  base_.emplace(ancestors_);
  eps_ = std::max(eps_, epsilon(base->dtype));
}

SampledValues::SampledValues(const Pair& pair, const WholeBytes& at_hand)
    : pair_(pair),
      values_(pair, at_hand),
      eps_(std::max(epsilon(pair.reference->dtype), epsilon(pair.candidate->dtype))) {}

std::span<const double> SampledValues::reference(const SampledRange& range) {
  return as_coarsest(*pair_.reference, values_.reference(range.begin, range.count), a_);
}

std::span<const double> SampledValues::candidate(const SampledRange& range) {
  return as_coarsest(*pair_.candidate, values_.candidate(range.begin, range.count), b_);
}

std::span<const double> SampledValues::base(const SampledRange& range) {
  return as_coarsest(*ancestors_.reference, base_->reference(range.begin, range.count), c_);
}

std::span<const double> SampledValues::as_coarsest(const Tensor& tensor,
                                                   std::span<const double> values,
                                                   std::vector<double>& made) const {
  if (epsilon(tensor.dtype) >= eps_) return values;
  made.assign(values.begin(), values.end());
  for (double& value : made) value = rounded(value, eps_);
  return made;
}

}  // namespace ttcheck::compare
