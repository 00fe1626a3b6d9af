// SPDX-License-Identifier: Apache-2.0
#pragma once
// What elements of a gradient that came another way on one side make of its difference.

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ttcheck::compare {

/// Elements whose gradient is another one because a choice fell the other way.
struct Gated {
  std::int64_t turned = 0;  ///< how many there are
  double rel = 0;           ///< ||B - A|| of these / ||A|| of all
  double row = 0;           ///< of the worst row: ||B - A|| of these in it / rms row norm of A
  double outlier = 0;       ///< largest |b - a| of these / rms of A
};

/// Sums over the elements in their order, row by row.
class Turned {
 public:
  explicit Turned(std::int64_t width) : width_(std::max<std::int64_t>(width, 1)) {}

  void add(double a, double b, bool turned) {
    if (at_ % width_ == 0) row_ = 0;
    ++at_;
    sum_a2_ += a * a;
    if (!turned) return;
    const double apart = b - a;
    ++found_.turned;
    row_ += apart * apart;
    sum_d2_ += apart * apart;
    worst_row_ = std::max(worst_row_, row_);
    largest_ = std::max(largest_, std::abs(apart));
  }

  /// Infinite where all of the reference is zero.
  Gated take() const {
    Gated found = found_;
    if (found.turned == 0) return found;
    const double mean_a2 = sum_a2_ / static_cast<double>(at_);
    found.rel = std::sqrt(sum_d2_ / sum_a2_);
    found.row = std::sqrt(worst_row_ / (mean_a2 * static_cast<double>(width_)));
    found.outlier = largest_ / std::sqrt(mean_a2);
    return found;
  }

 private:
  std::int64_t width_, at_ = 0;
  double sum_a2_ = 0, sum_d2_ = 0, row_ = 0, worst_row_ = 0, largest_ = 0;
  Gated found_;
};

}  // namespace ttcheck::compare
