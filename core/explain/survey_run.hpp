// SPDX-License-Identifier: Apache-2.0
#pragma once
// What elements side by side add to a survey.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/limit.hpp"
#include "core/model/metrics.hpp"

namespace ttcheck::explain {

/// What one element may differ by: max(scale * |a|, least) + slope * |a| + offset, of which a kind
/// of limit has one half.
struct ElementLimit {
  ElementLimit(const Limit& limit, const Metrics& metrics);

  double scale = 0, least = 0;   ///< of an outlier
  double slope = 0, offset = 0;  ///< of a tolerance
};

/// Sums over some elements, of four lanes each, so that none waits for another. What is not finite
/// on both sides is left out of them, and wrong unless both are alike.
class SurveyRun {
 public:
  explicit SurveyRun(const ElementLimit& limit) : limit_(limit) {}

  /// Measures these elements; what was measured before is forgotten. REQUIRES sides of one size.
  void measure(std::span<const double> a, std::span<const double> b);

  double d2 = 0, a2 = 0, b2 = 0, ab = 0, d = 0;
  double right_d2 = 0, wrong_d = 0;         ///< of those that are not wrong, and that are
  std::int64_t wrong = 0, wrong_zeros = 0;  ///< elements; those that are 0 in `b`

  /// Of each element: 1 where it is wrong, else 0; and its squares.
  std::vector<double> each_wrong, each_d2, each_a2;

 private:
  void take_in(std::span<const double> a, std::span<const double> b);
  void add_odd(std::span<const double> a, std::span<const double> b);

  ElementLimit limit_;
  std::vector<double> a_, b_;     ///< whole lanes; 0 where either side is not finite
  std::vector<std::size_t> odd_;  ///< those places
};

}  // namespace ttcheck::explain
