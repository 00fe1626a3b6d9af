// SPDX-License-Identifier: Apache-2.0
#pragma once
// Elements from which it is told how far two stored states are apart.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/compare/pair.hpp"
#include "core/compare/pair_values.hpp"

namespace ttcheck::compare {

struct SampledRange {
  std::int64_t begin = 0, count = 0;
};

inline constexpr std::int64_t kMostSampled = std::int64_t{32} * 512;

/// Ranges that hold at most kMostSampled of `count` elements, evenly over them, ascending.
std::vector<SampledRange> sampled_ranges(std::int64_t count);

/// Division by the power of two below the largest of some values that are finite; by 1 without one.
/// What is divided by it has squares that a double holds.
class Scaling {
 public:
  Scaling() = default;
  explicit Scaling(std::span<const double> values);

  /// Divides a number, or an array of them.
  template <class Values>
  Values operator()(const Values& values) const {
    return values * first_ * second_;
  }

 private:
  double first_ = 1, second_ = 1;  ///< together they may be more than a double holds
};

/// Values of a pair, and of an ancestor where there is one. Those of finer stores are first rounded
/// as the coarsest one's were. What a call gives stands until the next one for the same tensor.
class SampledValues {
 public:
  /// REQUIRES has_real_values(pair), and the same of `base`, of the pair's shape.
  explicit SampledValues(const Pair& pair, const Tensor* base = nullptr);
  SampledValues(const Pair& pair, const WholeBytes& at_hand);
  SampledValues(const SampledValues&) = delete;
  SampledValues& operator=(const SampledValues&) = delete;

  /// Throws Error.
  std::span<const double> reference(const SampledRange& range);
  std::span<const double> candidate(const SampledRange& range);
  std::span<const double> base(const SampledRange& range);

 private:
  std::span<const double> as_coarsest(const Tensor& tensor, std::span<const double> values,
                                      std::vector<double>& made) const;

  const Pair& pair_;
  PairValues values_;
  Pair ancestors_;
  std::optional<PairValues> base_;
  double eps_;
  std::vector<double> a_, b_, c_;
};

}  // namespace ttcheck::compare
