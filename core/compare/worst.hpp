// SPDX-License-Identifier: Apache-2.0
#pragma once
// Worst row, column sums and worst element of a pair: what one range adds, and the ranges folded in
// order. Rows run along the last dim; errors are over the larger of the row's norm (the element's
// size) and what is usual in the tensor.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/compare/kernel.hpp"
#include "core/model/metrics.hpp"

namespace ttcheck::compare {

/// What stays the same over a pair.
struct Scale {
  std::int64_t last = 0;   ///< extent of the last dim; 0: below 2-D, no rows
  bool columns = false;    ///< few enough to be told apart
  double rms = 0;          ///< of A
  double rms_row = 0;      ///< rms norm of its rows
  double most = HUGE_VAL;  ///< no distance is larger
};

/// A row, or the part of it that one range holds.
struct RowPart {
  std::int64_t row = -1;
  Squares sum;
};

/// A block of integers of at most 16 bits, as they are stored on both sides.
struct Integers {
  Whole whole;
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;
};

/// What one range adds. Blocks come in order; a row's parts are cut where blocks are.
class RangeWorst {
 public:
  RangeWorst(const Kernels& isa, const Scale& scale) : isa_(&isa), scale_(&scale) {}

  /// `count` elements, the first with logical index `at`; at most `range` in all.
  void add(const double* a, const double* distance, std::int64_t at, int count, std::int64_t range);

  /// The same of their squares.
  void add_squares(const double* a2, const double* d2, std::int64_t at, int count,
                   std::int64_t range);

  /// The rows and columns of `add`, to the same sums; its outliers are left.
  void add(const Integers& stored, std::int64_t at, int count, std::int64_t range);
  void add_outliers(const double* a, const double* distance, std::int64_t at, int count);

  /// Whether an element to come may be a worse outlier than those seen.
  bool may_rise() const;

 private:
  friend class Worst;

  void add_sums(As as, const double* a, const double* distance, std::int64_t at, int count,
                std::int64_t range);
  template <class SquaresOf>
  void add_rows(std::int64_t at, int count, const SquaresOf& squares_of);
  template <class Sum, class AddTo>
  void add_columns(std::int64_t at, int count, std::int64_t range, std::vector<Sum>& columns,
                   const AddTo& add_to);
  void keep_outlier(const double* a, const double* distance, std::int64_t at, int count);

  const Kernels* isa_;
  const Scale* scale_;
  std::vector<RowPart> edges_;  ///< the first and last row, which neighbours may share
  double row_error_ = 0;        ///< worst of the rows between
  std::int64_t row_ = -1;
  std::int64_t first_column_ = 0;  ///< columns_[i] is column (first_column_ + i) mod the last dim
  std::vector<double> columns_;
  std::vector<std::uint32_t> small_columns_;  ///< the same of 8-bit integers, while they fit
  double outlier_ = 0;
  std::int64_t outlier_index_ = -1;
};

/// All ranges of a pair.
class Worst {
 public:
  explicit Worst(const Scale& scale)
      : scale_(scale), columns_(scale.columns ? static_cast<std::size_t>(scale.last) : 0) {}

  void fold(const RangeWorst& part);

  /// Detail without its ULPs.
  Detail take();

 private:
  void close_row();

  const Scale& scale_;
  RowPart open_;  ///< the row that the next range may continue
  std::vector<double> columns_;
  Detail detail_;
};

}  // namespace ttcheck::compare
