// SPDX-License-Identifier: Apache-2.0
#pragma once
// One look at a whole pair beyond its limit: where its wrong elements are, and sums along each
// dimension. Hypotheses about one pair alone are told from this.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/explain/grain.hpp"
#include "core/explain/subject.hpp"

namespace ttcheck::explain {

/// Sums of d^2 and a^2 over each slice across one dimension.
struct Slices {
  std::vector<double> d2, a2;
  std::vector<std::int64_t> wrong;  ///< elements

  /// Slices that are beyond the limit of the pair, ascending.
  std::vector<std::int64_t> beyond(const Limit& limit) const;
};

/// A wrong element.
struct WrongElement {
  std::int64_t index = 0;  ///< linear
  double reference = 0, candidate = 0;
};

struct Survey {
  std::int64_t wrong = 0;              ///< elements beyond what one element may differ by
  std::vector<WrongElement> elements;  ///< the first 64 of them
  std::int64_t first = -1, last = -1;  ///< wrong elements, by linear index
  Extents lo, hi;                      ///< box that holds all wrong elements, ends included
  std::int64_t wrong_zeros = 0;        ///< wrong elements that are 0 in the candidate
  double wrong_d = 0;                  ///< sum of d over wrong elements that are finite
  double right_d2 = 0;                 ///< sum of d^2 over elements that are not wrong
  double sum_d = 0, sum_d2 = 0, sum_a2 = 0, sum_b2 = 0,
         sum_ab = 0;           ///< over elements that are finite on both sides
  std::vector<Slices> slices;  ///< by dimension; empty where it is 1 or too long
  Slices rows;  ///< across all dimensions but the last, flattened; of three dimensions or more
  Grain reference_grain, candidate_grain;

  /// Of a sample: whether in more than half of the ranges is more than a hundredth of the usual sum
  /// of d^2; elements beside one of the same row, and those of them of which one alone is wrong.
  bool most_ranges_differ = false;
  std::int64_t neighbours = 0, changes = 0;
};

/// Reads the pair once. Memory grows with extents, up to 2^20 a dimension. REQUIRES real dtypes.
Survey survey(const Subject& subject);

/// Surveys the pair by compare::sampled_ranges of it alone: sums and numbers of elements stand for
/// all, as if the rest were like the sample; places are of the sample alone. REQUIRES real dtypes.
Survey survey_sample(const Subject& subject);

}  // namespace ttcheck::explain
