// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far a dumped tensor is from what was recomputed.

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "core/model/dtype.hpp"

namespace ttcheck::recompute {

/// Sums and peaks over consecutive parts of one tensor. `expected` is what was recomputed.
class Mismatch {
 public:
  /// `width`: of the tensor's rows.
  explicit Mismatch(std::int64_t width) : width_(width) {}

  /// Elements from linear index `begin` on. Infinities that the dumped dtype makes of what is too
  /// large for it are no mismatch.
  void add(std::int64_t begin, std::span<const double> expected, std::span<const double> dumped,
           DType dtype);
  /// What another part told, which comes after this one.
  void append(const Mismatch& next);

  std::int64_t count() const { return count_; }
  /// False where the squares of what is expected are more than a double holds: nothing is told
  /// then.
  bool measured() const;
  /// |d| / |expected|, of all; infinite where only the latter is zero.
  double rel() const;
  /// Largest |d| of one row over the larger of its norm and that of the mean row.
  double row() const;
  /// Largest |d| / max(|expected|, rms of expected) of one element; infinite where one side alone
  /// is not finite. Sizes count by their power of two, from 2^-64 to 2^63: of each only the largest
  /// |d| is kept.
  double outlier() const;
  std::int64_t worst() const;  ///< index of that element; -1 if there is none
  /// The largest error of one element as outlier() tells it, but each held to its own size, or a
  /// 1,024th of the rms.
  double share() const;
  std::int64_t worst_share() const;

 private:
  struct Peak {
    double error = 0, size = 0;
    std::int64_t index = -1;
  };
  static constexpr int kBinades = 128;
  using Peaks = std::array<Peak, kBinades>;

  void add_row(std::int64_t begin, std::span<const double> expected, std::span<const double> dumped,
               DType dtype);
  static void raise(Peaks& peaks, const Peak& peak);
  static Peak highest(const Peaks& peaks, double least);
  double rms() const;

  std::int64_t width_;
  std::int64_t count_ = 0;
  double sum_d2_ = 0, sum_y2_ = 0;
  std::optional<std::int64_t> not_finite_;  ///< the first
  Peaks elements_{}, rows_{};
};

}  // namespace ttcheck::recompute
