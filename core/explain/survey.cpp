// SPDX-License-Identifier: Apache-2.0
#include "core/explain/survey.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/require.hpp"
#include "core/compare/sampled.hpp"
#include "core/explain/values.hpp"

namespace ttcheck::explain {
namespace {

constexpr std::int64_t kMostSlices = 1 << 20;
constexpr std::size_t kMostListed = 64;
constexpr double kNothing = 100;  ///< a share that is that much smaller than usual

/// Is the difference of one element beyond what one may differ by?
class ElementLimit {
 public:
  ElementLimit(const Limit& limit, const Metrics& metrics) : limit_(limit) {
    const auto finite = static_cast<double>(metrics.count - metrics.taken_out);
    rms_ = finite > 0 ? std::sqrt(metrics.sum_a2 / finite) : 0;
  }

  bool beyond(double a, double d) const {
    if (limit_.kind == LimitKind::tolerance) return d > limit_.atol + limit_.rtol * std::fabs(a);
    if (limit_.outlier == 0) return d > 0;
    return d > limit_.outlier * std::max(std::fabs(a), rms_);
  }

 private:
  const Limit& limit_;
  double rms_;
};

class Surveyor {
 public:
  explicit Surveyor(const Subject& subject)
      : shape_(subject.pair.reference->shape), limit_(subject.result->limit, subject.metrics()) {
    if (shape_.empty()) shape_ = {1};
    at_.assign(shape_.size(), 0);
    found_.lo = shape_;
    found_.hi.assign(shape_.size(), -1);
    for (const std::int64_t extent : shape_) found_.slices.push_back(make(extent));
    if (shape_.size() >= 3) found_.rows = make(element_count({shape_.begin(), shape_.end() - 1}));
  }

  Survey run(const compare::Pair& pair) {
    visit_pair(pair, element_count(shape_),
               [&](std::int64_t begin, std::span<const double> a, std::span<const double> b) {
                 add(begin, a, b);
               });
    return std::move(found_);
  }

  Survey run_sample(const compare::Pair& pair) {
    const std::int64_t count = element_count(shape_);
    std::vector<double> d2;  // by range
    std::int64_t sampled = 0;
    for (const compare::SampledRange& range : compare::sampled_ranges(count)) {
      const double before = found_.sum_d2;
      at_ = unravel(shape_, range.begin);
      visit_pair(pair, range,
                 [&](std::int64_t begin, std::span<const double> a, std::span<const double> b) {
                   add(begin, a, b);
                 });
      d2.push_back(found_.sum_d2 - before);
      sampled += range.count;
    }
    const double usual = found_.sum_d2 / static_cast<double>(d2.size());
    found_.most_ranges_differ =
        2 * std::ranges::count_if(d2, [&](double one) { return one > usual / kNothing; }) >
        std::ssize(d2);
    stand_for_all(static_cast<double>(count) / static_cast<double>(sampled));
    return std::move(found_);
  }

 private:
  void add(std::int64_t begin, std::span<const double> a, std::span<const double> b) {
    for (std::size_t i = 0; i < a.size();) {
      const auto left = static_cast<std::size_t>(shape_.back() - at_.back());
      const std::size_t n = std::min(a.size() - i, left);
      add_run(begin + static_cast<std::int64_t>(i), a.subspan(i, n), b.subspan(i, n));
      i += n;
    }
  }

  void stand_for_all(double times) {
    for (double* sum : {&found_.wrong_d, &found_.right_d2, &found_.sum_d, &found_.sum_d2,
                        &found_.sum_a2, &found_.sum_b2, &found_.sum_ab}) {
      *sum *= times;
    }
    for (std::int64_t* number : {&found_.wrong, &found_.wrong_zeros}) {
      *number = static_cast<std::int64_t>(static_cast<double>(*number) * times);
    }
  }

  static Slices make(std::int64_t extent) {
    if (extent < 2 || extent > kMostSlices) return {};
    const auto n = static_cast<std::size_t>(extent);
    return {std::vector<double>(n), std::vector<double>(n), std::vector<std::int64_t>(n)};
  }

  static void add(Slices& slices, std::int64_t at, double d2, double a2, std::int64_t wrong) {
    if (slices.d2.empty()) return;
    const auto i = static_cast<std::size_t>(at);
    slices.d2[i] += d2;
    slices.a2[i] += a2;
    slices.wrong[i] += wrong;
  }

  /// Elements side by side along the last dimension.
  void add_run(std::int64_t linear, std::span<const double> a, std::span<const double> b) {
    Slices& columns = found_.slices.back();
    double run_d2 = 0, run_a2 = 0;
    std::int64_t run_wrong = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      found_.reference_grain.add(a[i]);
      found_.candidate_grain.add(b[i]);
      const double d = b[i] - a[i];
      const bool finite = std::isfinite(a[i]) && std::isfinite(b[i]);
      const double d2 = finite ? d * d : 0;
      const double a2 = finite ? a[i] * a[i] : 0;
      if (finite) {
        found_.sum_d += d;
        found_.sum_b2 += b[i] * b[i];
        found_.sum_ab += a[i] * b[i];
      }
      const bool alike = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
      const bool wrong = !alike && (!finite || limit_.beyond(a[i], std::fabs(d)));
      run_d2 += d2;
      run_a2 += a2;
      add(columns, at_.back() + static_cast<std::int64_t>(i), d2, a2, wrong ? 1 : 0);
      if (!wrong) {
        found_.right_d2 += d2;
        continue;
      }
      ++run_wrong;
      if (finite) found_.wrong_d += d;
      note_wrong(linear + static_cast<std::int64_t>(i), at_.back() + static_cast<std::int64_t>(i),
                 a[i], b[i]);
    }
    found_.sum_d2 += run_d2;
    found_.sum_a2 += run_a2;
    for (std::size_t dim = 0; dim + 1 < shape_.size(); ++dim) {
      add(found_.slices[dim], at_[dim], run_d2, run_a2, run_wrong);
    }
    add(found_.rows, linear / shape_.back(), run_d2, run_a2, run_wrong);
    advance(static_cast<std::int64_t>(a.size()));
  }

  void note_wrong(std::int64_t linear, std::int64_t column, double a, double b) {
    ++found_.wrong;
    if (found_.elements.size() < kMostListed) found_.elements.push_back({linear, a, b});
    if (found_.first < 0) found_.first = linear;
    found_.last = linear;
    if (b == 0) ++found_.wrong_zeros;
    for (std::size_t dim = 0; dim < shape_.size(); ++dim) {
      const std::int64_t at = dim + 1 < shape_.size() ? at_[dim] : column;
      found_.lo[dim] = std::min(found_.lo[dim], at);
      found_.hi[dim] = std::max(found_.hi[dim], at);
    }
  }

  void advance(std::int64_t by) {
    at_.back() += by;
    for (std::size_t dim = shape_.size() - 1; dim > 0 && at_[dim] >= shape_[dim]; --dim) {
      at_[dim] = 0;
      ++at_[dim - 1];
    }
  }

  Shape shape_;
  ElementLimit limit_;
  Extents at_;  ///< of the next element
  Survey found_;
};

void require_real(const compare::Pair& pair) {
  require(!is_complex(pair.reference->dtype) && !is_complex(pair.candidate->dtype), "real dtypes");
}

}  // namespace

std::vector<std::int64_t> Slices::beyond(const Limit& limit) const {
  double sum = 0;
  for (const double a : a2) sum += a;
  std::vector<std::int64_t> slices;
  for (std::size_t i = 0; i < d2.size(); ++i) {
    const double size = std::max(a2[i], sum / static_cast<double>(a2.size()));
    const bool far = limit.row > 0 && d2[i] > limit.row * limit.row * size;
    if (far || wrong[i] > 0) slices.push_back(static_cast<std::int64_t>(i));
  }
  return slices;
}

Survey survey(const Subject& subject) {
  require_real(subject.pair);
  return Surveyor(subject).run(subject.pair);
}

Survey survey_sample(const Subject& subject) {
  require_real(subject.pair);
  return Surveyor(subject).run_sample(subject.pair);
}

}  // namespace ttcheck::explain
