// SPDX-License-Identifier: Apache-2.0
#include "core/compare/worst.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/compare/complex.hpp"

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
  add_sums(As::values, a, distance, at, count, range);
  add_outliers(a, distance, at, count);
}

void RangeWorst::add_squares(const double* a2, const double* d2, std::int64_t at, int count,
                             std::int64_t range) {
  add_sums(As::squares, a2, d2, at, count, range);
  for (int from = 0; from < count; from += kStep) {
    const int n = std::min(count - from, kStep);
    if (!may_rise()) return;
    const double beaten = below_square(outlier_ * kWorseBy);
    if (!isa_->exceeds(a2 + from, d2 + from, n, beaten, scale_->rms * scale_->rms)) continue;
    std::array<double, kStep> a, distance;
    std::copy_n(a2 + from, n, a.begin());
    std::copy_n(d2 + from, n, distance.begin());
    isa_->roots(a.data(), n);
    isa_->roots(distance.data(), n);
    keep_outlier(a.data(), distance.data(), at + from, n);
  }
}

void RangeWorst::add_sums(As as, const double* a, const double* distance, std::int64_t at,
                          int count, std::int64_t range) {
  const auto squares = isa_->squares[static_cast<std::size_t>(as)];
  const auto add_to = isa_->add_squares[static_cast<std::size_t>(as)];
  add_rows(at, count, [&](int i, int n) { return squares(a + i, distance + i, n); });
  add_columns(at, count, range, columns_,
              [&](int i, int n, double* sums) { add_to(distance + i, n, sums); });
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
    const int n = std::min(count - from, kStep);
    const double beaten = outlier_ * kWorseBy;
    if (!may_rise()) return;
    if (!isa_->exceeds(a + from, distance + from, n, beaten, scale_->rms)) continue;
    keep_outlier(a + from, distance + from, at + from, n);
  }
}

void RangeWorst::keep_outlier(const double* a, const double* distance, std::int64_t at, int count) {
  for (int i = 0; i < count; ++i) {
    const double d = distance[i];
    const double size = std::max(std::fabs(a[i]), scale_->rms);
    // 0 x infinity is no number, and nothing exceeds it.
    if (!(d > outlier_ * kWorseBy * size)) continue;
    outlier_ = d / size;
    outlier_index_ = at + i;
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
