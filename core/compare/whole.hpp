// SPDX-License-Identifier: Apache-2.0
#pragma once
// The exact way of measuring blocks of integers of at most 16 bits, of one dtype on both sides:
// sums of squares of 512 elements are exact, as 64-bit integers and as doubles.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/compare/rule.hpp"
#include "core/model/metrics.hpp"

namespace ttcheck::compare {

/// Whether all of these codes are 0 or 1.
bool are_truth_values(const std::byte* codes, int count);

class WholeBlocks {
 public:
  /// Both outlive this.
  WholeBlocks(const Rule& rule, Metrics& metrics);

  /// Adds `count` elements, the first with logical index `base`. False where they are left to fp64,
  /// which finds the same: other dtypes, and truth values that are neither 0 nor 1.
  bool add(const std::byte* a, const std::byte* b, std::int64_t base, int count);

 private:
  void add_equal(const std::byte* stored, int count);
  void add_part(const std::byte* a, const std::byte* b, std::int64_t base, int count);
  void raise_maxima(const std::byte* a, const std::byte* b, std::int64_t base, int count);

  const Rule& rule_;
  Metrics& metrics_;
  std::optional<Whole> whole_;  ///< none: other dtypes
  Quotient rel_;                ///< max_rel
};

}  // namespace ttcheck::compare
