// SPDX-License-Identifier: Apache-2.0
#include "core/explain/survey.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/require.hpp"
#include "core/compare/sampled.hpp"
#include "core/explain/survey_run.hpp"
#include "core/explain/values.hpp"

namespace ttcheck::explain {
namespace {

constexpr std::int64_t kMostSlices = 1 << 20;
constexpr std::size_t kMostListed = 64;
constexpr double kNothing = 100;  ///< a share that is that much smaller than usual

class Surveyor {
 public:
  explicit Surveyor(const Subject& subject)
      : shape_(subject.pair.reference->shape),
        run_(ElementLimit(subject.result->limit, subject.metrics())) {
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
    sampling_ = true;
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

  /// Elements side by side along the last dimension.
  void add_run(std::int64_t linear, std::span<const double> a, std::span<const double> b) {
    found_.reference_grain.add(a);
    found_.candidate_grain.add(b);
    run_.measure(a, b);
    found_.sum_d2 += run_.d2;
    found_.sum_a2 += run_.a2;
    found_.sum_b2 += run_.b2;
    found_.sum_ab += run_.ab;
    found_.sum_d += run_.d;
    found_.right_d2 += run_.right_d2;
    found_.wrong_d += run_.wrong_d;
    add_columns(a.size());
    for (std::size_t dim = 0; dim + 1 < shape_.size(); ++dim) add(found_.slices[dim], at_[dim]);
    add(found_.rows, linear / shape_.back());
    if (run_.wrong > 0) add_wrong(linear, a, b);
    if (sampling_) count_changes(a.size());
    advance(static_cast<std::int64_t>(a.size()));
  }

  void add(Slices& slices, std::int64_t at) const {
    if (slices.d2.empty()) return;
    const auto i = static_cast<std::size_t>(at);
    slices.d2[i] += run_.d2;
    slices.a2[i] += run_.a2;
    slices.wrong[i] += run_.wrong;
  }

  void add_columns(std::size_t count) {
    Slices& columns = found_.slices.back();
    if (columns.d2.empty()) return;
    const auto first = static_cast<std::size_t>(at_.back());
    double *d2 = &columns.d2[first], *a2 = &columns.a2[first];
    std::int64_t* wrong = &columns.wrong[first];
    for (std::size_t i = 0; i < count; ++i) {
      d2[i] += run_.each_d2[i];
      a2[i] += run_.each_a2[i];
      wrong[i] += run_.each_wrong[i] != 0 ? 1 : 0;
    }
  }

  void add_wrong(std::int64_t linear, std::span<const double> a, std::span<const double> b) {
    const auto wrong = std::span(run_.each_wrong).first(a.size());
    const auto first = std::ranges::find(wrong, 1.0) - wrong.begin();
    const auto after = wrong.rend() - std::ranges::find(wrong.rbegin(), wrong.rend(), 1.0);
    found_.wrong += run_.wrong;
    found_.wrong_zeros += run_.wrong_zeros;
    if (found_.first < 0) found_.first = linear + first;
    found_.last = linear + after - 1;
    for (std::size_t dim = 0; dim < shape_.size(); ++dim) {
      const bool last = dim + 1 == shape_.size();
      found_.lo[dim] = std::min(found_.lo[dim], at_[dim] + (last ? first : 0));
      found_.hi[dim] = std::max(found_.hi[dim], at_[dim] + (last ? after - 1 : 0));
    }
    for (auto i = first; i < after && found_.elements.size() < kMostListed; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (wrong[at] == 1) found_.elements.push_back({linear + i, a[at], b[at]});
    }
  }

  void count_changes(std::size_t count) {
    for (std::size_t i = 1; i < count; ++i) {
      found_.changes += run_.each_wrong[i] != run_.each_wrong[i - 1] ? 1 : 0;
    }
    found_.neighbours += static_cast<std::int64_t>(count) - 1;
  }

  void advance(std::int64_t by) {
    at_.back() += by;
    for (std::size_t dim = shape_.size() - 1; dim > 0 && at_[dim] >= shape_[dim]; --dim) {
      at_[dim] = 0;
      ++at_[dim - 1];
    }
  }

  Shape shape_;
  SurveyRun run_;
  bool sampling_ = false;
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
