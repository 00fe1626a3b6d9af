// SPDX-License-Identifier: Apache-2.0
#include "core/compare/worst.hpp"

#include <algorithm>
#include <cmath>

namespace ttcheck::compare {
namespace {

constexpr int kStep = 64;  ///< elements looked at together for an outlier

/// What is worse must be so by more than the rounding of the test, or many equal quotients would
/// each be divided out again.
constexpr double kWorseBy = 1 + 0x1p-50;

void keep_worse(double error, std::int64_t row, double& worst, std::int64_t& number) {
  if (number >= 0 && !(error > worst)) return;
  worst = error;
  number = row;
}

void keep_worse(const Scale& scale, const RowPart& row, double& worst, std::int64_t& number) {
  if (row.sum.d2 == 0) return;
  const double size2 = std::max(row.sum.a2, scale.rms_row * scale.rms_row);
  if (row.sum.d2 < 0.999 * worst * worst * size2) return;  // spares the roots
  const double size = std::max(std::sqrt(row.sum.a2), scale.rms_row);
  keep_worse(std::sqrt(row.sum.d2) / size, row.row, worst, number);  // of zeros it is infinite
}

void append(Squares& sum, const Squares& next) {
  sum.d2 += next.d2;
  sum.a2 += next.a2;
}

}  // namespace

void RangeWorst::add(const double* a, const double* distance, std::int64_t at, int count,
                     std::int64_t range) {
  add_rows(at, count, [&](int i, int n) { return isa_->squares(a + i, distance + i, n); });
  add_columns(at, count, range, columns_,
              [&](int i, int n, double* sums) { isa_->add_squares(distance + i, n, sums); });
  add_outliers(a, distance, at, count);
}

void RangeWorst::add(const Integers& stored, std::int64_t at, int count, std::int64_t range) {
  const auto which = static_cast<std::size_t>(stored.whole);
  const int width = stored.whole < Whole::u16 ? 1 : 2;
  const auto squares = isa_->integer_row[which];
  add_rows(at, count,
           [&](int i, int n) { return squares(stored.a + i * width, stored.b + i * width, n); });
  const auto columns = [&](auto kernel) {
    return [=, &stored](int i, int n, auto* sums) {
      kernel(stored.a + i * width, stored.b + i * width, n, sums);
    };
  };
  if (width == 1 && range <= kMostSquares * scale_->last) {
    add_columns(at, count, range, small_columns_, columns(isa_->small_columns[which]));
  } else {
    add_columns(at, count, range, columns_, columns(isa_->integer_columns[which]));
  }
}

template <class SquaresOf>
void RangeWorst::add_rows(std::int64_t at, int count, const SquaresOf& squares_of) {
  if (scale_->last <= 0) return;
  std::int64_t row = at / scale_->last;
  for (int i = 0; i < count; ++row) {
    const int n =
        static_cast<int>(std::min<std::int64_t>(count - i, (row + 1) * scale_->last - at - i));
    const RowPart part{row, squares_of(i, n)};
    i += n;
    if (!edges_.empty() && edges_.back().row == row) {
      append(edges_.back().sum, part.sum);
    } else if (edges_.size() < 2) {
      edges_.push_back(part);
    } else {
      keep_worse(*scale_, edges_.back(), row_error_, row_);
      edges_.back() = part;
    }
  }
}

template <class Sum, class AddTo>
void RangeWorst::add_columns(std::int64_t at, int count, std::int64_t range,
                             std::vector<Sum>& columns, const AddTo& add_to) {
  if (!scale_->columns) return;
  if (columns.empty()) {
    first_column_ = at % scale_->last;
    columns.resize(static_cast<std::size_t>(std::min(scale_->last, range)));
  }
  std::int64_t slot = (at - first_column_) % scale_->last;
  for (int i = 0; i < count;) {
    const int n = static_cast<int>(std::min<std::int64_t>(count - i, scale_->last - slot));
    add_to(i, n, columns.data() + slot);
    i += n;
    slot = 0;
  }
}

/// As each element counts as at least that rms.
bool RangeWorst::may_rise() const { return scale_->most > outlier_ * kWorseBy * scale_->rms; }

void RangeWorst::add_outliers(const double* a, const double* distance, std::int64_t at, int count) {
  for (int from = 0; from < count; from += kStep) {
    const int to = std::min(count, from + kStep);
    const double beaten = outlier_ * kWorseBy;
    if (!may_rise()) return;
    if (!isa_->exceeds(a + from, distance + from, to - from, beaten, scale_->rms)) continue;
    for (int i = from; i < to; ++i) {
      const double d = distance[i];
      const double size = std::max(std::fabs(a[i]), scale_->rms);
      // 0 x infinity is no number, and nothing exceeds it.
      if (!(d > outlier_ * kWorseBy * size)) continue;
      outlier_ = d / size;
      outlier_index_ = at + i;
    }
  }
}

void Worst::fold(const RangeWorst& part) {
  for (const RowPart& edge : part.edges_) {
    if (edge.row == open_.row) {
      append(open_.sum, edge.sum);
    } else {
      close_row();
      open_ = edge;
    }
  }
  // Rows between the edges: the first edge was closed when the last one came, which is still open.
  keep_worse(part.row_error_, part.row_, detail_.row_error, detail_.row);
  const auto add_up = [&](const auto& columns) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      columns_[(static_cast<std::size_t>(part.first_column_) + i) % columns_.size()] += columns[i];
    }
  };
  add_up(part.columns_);
  add_up(part.small_columns_);
  if (part.outlier_ > detail_.outlier) {
    detail_.outlier = part.outlier_;
    detail_.outlier_index = part.outlier_index_;
  }
}

void Worst::close_row() { keep_worse(scale_, open_, detail_.row_error, detail_.row); }

Detail Worst::take() {
  close_row();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const double best = detail_.column < 0 ? 0 : columns_[static_cast<std::size_t>(detail_.column)];
    if (columns_[i] > best) detail_.column = static_cast<std::int64_t>(i);
  }
  return detail_;
}

}  // namespace ttcheck::compare
