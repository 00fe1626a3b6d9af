// Passes over one pair: the first finds the size of A, which the row and outlier tests are relative
// to; the second finds rows, columns and outliers. ULP distances are counted in both, and in more
// passes if their quantiles are not settled by then.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"
#include "core/base/parallel.hpp"
#include "core/compare/compare.hpp"
#include "core/compare/ordered.hpp"
#include "core/compare/ranges.hpp"
#include "core/compare/ulp.hpp"
#include "core/compare/wide.hpp"
#include "core/model/decode.hpp"

namespace ttcheck::compare {
namespace {

constexpr std::int64_t kMostColumns = 1 << 22;  ///< more are not told apart

/// A row, or the part of it that one range holds.
struct RowPart {
  std::int64_t row = -1;
  double d2 = 0, a2 = 0;
};

/// The size of A: what the first pass is for.
struct Size {
  double a2 = 0;
  std::int64_t count = 0;
};

/// What one range adds to the second pass.
struct RangeDetail {
  std::vector<RowPart> edges;  ///< its first and last row, which neighbours may share
  double row_error = 0;        ///< worst of the rows between
  std::int64_t row = -1;
  std::int64_t first_column = 0;  ///< columns[i] is column (first_column + i) mod the last dim
  std::vector<double> columns;
  double outlier = 0;
  std::int64_t outlier_index = -1;
};

class Examination {
 public:
  Examination(const Pair& pair, const Stop& stop)
      : pair_(pair),
        stop_(stop),
        rule_(rule_for(pair.reference->dtype, pair.candidate->dtype, true)),
        unit_(unit_of(rule_.a, rule_.b)),
        count_(element_count(pair.reference->shape)),
        range_(range_elements(rule_.a, rule_.b)),
        last_(pair.reference->shape.size() < 2 ? 0 : pair.reference->shape.back()) {}

  Detail run() {
    if (count_ == 0) return {};
    measure_size();
    find_worst();
    while (!ulps_.done()) {
      pass([](std::int64_t, const WideBlock&, int, Size&) {}, Size{}, [](Size&&) {});
    }
    detail_.ulp_quantiles = ulps_.quantiles();
    return std::move(detail_);
  }

 private:
  /// Visits every block of the pair once: visit(first index, block, count, part), where `part`
  /// starts as a copy of `empty` for each range and is folded in order. Counts ULPs on the way.
  template <class Part, class Visit, class Fold>
  void pass(const Visit& visit, const Part& empty, const Fold& fold) {
    std::vector<UlpSelection::Counts> counts(static_cast<std::size_t>(threads()));
    const auto work = [&](std::size_t task) {
      if (stop_ && stop_()) throw Stopped();
      const std::int64_t begin = static_cast<std::int64_t>(task) * range_;
      Part part = empty;
      auto& mine = counts[static_cast<std::size_t>(worker()) % counts.size()];
      if (mine.empty()) mine = ulps_.counts();
      visit_range(
          begin, std::min(range_, count_ - begin), mine,
          [&](std::int64_t at, const WideBlock& block, int n) { visit(at, block, n, part); });
      return part;
    };
    fold_in_order(static_cast<std::size_t>(ceil_div(count_, range_)), work,
                  [&](std::size_t, Part&& part) { fold(std::move(part)); });
    ulps_.finish_pass(counts);
  }

  template <class Visit>
  void visit_range(std::int64_t begin, std::int64_t count, UlpSelection::Counts& counts,
                   const Visit& visit) {
    Buffers& buffers = pool_.mine();
    const auto a = buffers.a(rule_.a, count);
    const auto b = buffers.b(rule_.b, count);
    gather(*pair_.reference, begin, count, a);
    gather(*pair_.candidate, begin, count, b);
    for (const LinearRange& hole : holes_of(pair_, begin, begin + count)) {
      clear_elements(rule_.a, a, hole.begin - begin, hole.end - begin);
      clear_elements(rule_.b, b, hole.begin - begin, hole.end - begin);
      ulps_.add_zeros(hole.begin - hole.end, counts);
    }
    Scratch& scratch = buffers.scratch();
    for (std::int64_t at = 0; at < count; at += kBlock) {
      const auto n = static_cast<int>(std::min<std::int64_t>(kBlock, count - at));
      Metrics ignored;
      decode_block(rule_, stored_at(rule_.a, a, at, n, scratch.codes_a),
                   stored_at(rule_.b, b, at, n, scratch.codes_b), n, begin + at, scratch.wide,
                   ignored);
      count_ulps(scratch.wide, n, counts);
      visit(begin + at, scratch.wide, n);
    }
  }

  void count_ulps(const WideBlock& block, int count, UlpSelection::Counts& counts) const {
    const bool parts = is_complex(rule_.a);
    std::int64_t zeros = -block.taken_out;
    for (int i = 0; i < count; ++i) {
      if (block.d[i] == 0) {
        ++zeros;
      } else if (parts) {
        ulps_.add(std::max(ulp_distance(unit_, block.parts[0][i], block.parts[2][i]),
                           ulp_distance(unit_, block.parts[1][i], block.parts[3][i])),
                  counts);
      } else {
        ulps_.add(ulp_distance(unit_, block.a[i], block.b[i]), counts);
      }
    }
    ulps_.add_zeros(zeros, counts);
  }

  void measure_size() {
    const auto visit = [](std::int64_t, const WideBlock& block, int n, Size& size) {
      size.count += n - block.taken_out;
      for (int i = 0; i < n; ++i) size.a2 += block.a[i] * block.a[i];
    };
    Size all;
    pass(visit, Size{}, [&](Size&& size) {
      all.count += size.count;
      all.a2 += size.a2;
    });
    if (all.count == 0) return;
    rms_ = std::sqrt(all.a2 / static_cast<double>(all.count));
    rms_row_ = rms_ * std::sqrt(static_cast<double>(last_));
  }

  void find_worst() {
    if (last_ > 0 && last_ <= kMostColumns) columns_.resize(static_cast<std::size_t>(last_));
    const auto visit = [&](std::int64_t at, const WideBlock& block, int n, RangeDetail& part) {
      if (last_ > 0) add_rows(at, block, n, part);
      if (!columns_.empty()) add_columns(at, block, n, part);
      add_outliers(at, block, n, part);
    };
    pass(visit, RangeDetail{}, [&](RangeDetail&& part) { fold(part); });
    close_row();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const double best =
          detail_.column < 0 ? 0 : columns_[static_cast<std::size_t>(detail_.column)];
      if (columns_[i] > best) detail_.column = static_cast<std::int64_t>(i);
    }
  }

  void add_rows(std::int64_t at, const WideBlock& block, int n, RangeDetail& part) const {
    for (int i = 0; i < n;) {
      const std::int64_t row = (at + i) / last_;
      const int end = static_cast<int>(std::min<std::int64_t>(n, (row + 1) * last_ - at));
      RowPart sum{row, 0, 0};
      for (; i < end; ++i) {
        sum.d2 += block.d[i] * block.d[i];
        sum.a2 += block.a[i] * block.a[i];
      }
      if (!part.edges.empty() && part.edges.back().row == row) {
        part.edges.back().d2 += sum.d2;
        part.edges.back().a2 += sum.a2;
      } else if (part.edges.size() < 2) {
        part.edges.push_back(sum);
      } else {
        keep_worse(part.edges.back(), part.row_error, part.row);
        part.edges.back() = sum;
      }
    }
  }

  void keep_worse(const RowPart& row, double& worst, std::int64_t& number) const {
    if (row.row < 0 || row.d2 == 0) return;
    const double size = std::max(std::sqrt(row.a2), rms_row_);
    const double error =
        size > 0 ? std::sqrt(row.d2) / size : std::numeric_limits<double>::infinity();
    if (number < 0 || error > worst) {
      worst = error;
      number = row.row;
    }
  }

  void add_columns(std::int64_t at, const WideBlock& block, int n, RangeDetail& part) const {
    if (part.columns.empty()) {
      part.first_column = at % last_;
      part.columns.resize(static_cast<std::size_t>(std::min(last_, range_)));
    }
    auto slot = static_cast<std::size_t>((at - part.first_column) % last_);
    for (int i = 0; i < n; ++i) {
      part.columns[slot] += block.d[i] * block.d[i];
      if (++slot == static_cast<std::size_t>(last_)) slot = 0;
    }
  }

  void add_outliers(std::int64_t at, const WideBlock& block, int n, RangeDetail& part) const {
    for (int i = 0; i < n; ++i) {
      const double d = block.d[i];
      const double size = std::max(std::fabs(block.a[i]), rms_);
      if (d == 0 || std::isinf(part.outlier) || d <= part.outlier * size) continue;
      part.outlier = size > 0 ? d / size : std::numeric_limits<double>::infinity();
      part.outlier_index = at + i;
    }
  }

  void fold(const RangeDetail& part) {
    for (std::size_t i = 0; i < part.edges.size(); ++i) {
      const RowPart& edge = part.edges[i];
      if (edge.row == open_.row) {
        open_.d2 += edge.d2;
        open_.a2 += edge.a2;
      } else {
        close_row();
        open_ = edge;
      }
      if (i > 0 || part.row < 0) continue;
      close_row();  // rows between the edges come before the last one
      open_ = {};
      keep_row(part.row_error, part.row);
    }
    for (std::size_t i = 0; i < part.columns.size(); ++i) {
      columns_[(static_cast<std::size_t>(part.first_column) + i) % columns_.size()] +=
          part.columns[i];
    }
    if (part.outlier_index >= 0 && (detail_.outlier_index < 0 || part.outlier > detail_.outlier)) {
      detail_.outlier = part.outlier;
      detail_.outlier_index = part.outlier_index;
    }
  }

  void close_row() { keep_worse(open_, detail_.row_error, detail_.row); }

  void keep_row(double error, std::int64_t row) {
    if (detail_.row >= 0 && error <= detail_.row_error) return;
    detail_.row_error = error;
    detail_.row = row;
  }

  const Pair& pair_;
  const Stop& stop_;
  Rule rule_;
  DType unit_;
  std::int64_t count_;
  std::int64_t range_;
  std::int64_t last_;  ///< extent of the last dim; 0 below 2-D
  double rms_ = 0, rms_row_ = 0;
  BufferPool pool_;
  UlpSelection ulps_;
  RowPart open_;  ///< the row that the next range may continue
  std::vector<double> columns_;
  Detail detail_;
};

}  // namespace

Detail examine(const Pair& pair, const Stop& stop) { return Examination(pair, stop).run(); }

}  // namespace ttcheck::compare
