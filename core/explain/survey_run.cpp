// SPDX-License-Identifier: Apache-2.0
#include "core/explain/survey_run.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Core>

#include "core/base/require.hpp"

namespace ttcheck::explain {
namespace {

using Lanes = Eigen::Array4d;
constexpr std::size_t kWide = 4;

Eigen::Map<Lanes> lanes(std::vector<double>& values, std::size_t at) {
  return Eigen::Map<Lanes>(&values[at]);
}

}  // namespace

ElementLimit::ElementLimit(const Limit& limit, const Metrics& metrics) {
  if (limit.kind == LimitKind::tolerance) {
    slope = limit.rtol;
    offset = limit.atol;
    return;
  }
  if (limit.outlier == 0) return;
  const auto finite = static_cast<double>(metrics.count - metrics.taken_out);
  scale = limit.outlier;
  least = finite > 0 ? limit.outlier * std::sqrt(metrics.sum_a2 / finite) : 0;
}

void SurveyRun::measure(std::span<const double> a, std::span<const double> b) {
  require(a.size() == b.size(), "both sides");
  take_in(a, b);
  Lanes of_d2 = Lanes::Zero(), of_a2 = of_d2, of_b2 = of_d2, of_ab = of_d2, of_d = of_d2;
  Lanes of_right = of_d2, of_wrong = of_d2, wrongs = of_d2, zeros = of_d2;
  for (std::size_t i = 0; i < a_.size(); i += kWide) {
    const Lanes x = lanes(a_, i), y = lanes(b_, i), apart = y - x, size = x.abs();
    const Lanes allowed =
        (limit_.scale * size).max(limit_.least) + (limit_.slope * size + limit_.offset);
    const auto beyond = apart.abs() > allowed;
    const Lanes is_wrong = beyond.cast<double>(), squares = apart.square();
    of_d2 += squares;
    of_a2 += x.square();
    of_b2 += y.square();
    of_ab += x * y;
    of_d += apart;
    of_right += beyond.select(Lanes::Zero(), squares);  // of what is wrong they may be infinite
    of_wrong += is_wrong * apart;
    wrongs += is_wrong;
    zeros += is_wrong * (y == 0).cast<double>();
    lanes(each_wrong, i) = is_wrong;
    lanes(each_d2, i) = squares;
    lanes(each_a2, i) = x.square();
  }
  d2 = of_d2.sum();
  a2 = of_a2.sum();
  b2 = of_b2.sum();
  ab = of_ab.sum();
  d = of_d.sum();
  right_d2 = of_right.sum();
  wrong_d = of_wrong.sum();
  wrong = static_cast<std::int64_t>(wrongs.sum());
  wrong_zeros = static_cast<std::int64_t>(zeros.sum());
  add_odd(a, b);
}

void SurveyRun::take_in(std::span<const double> a, std::span<const double> b) {
  const std::size_t all = (a.size() + kWide - 1) / kWide * kWide;
  a_.assign(a.begin(), a.end());
  b_.assign(b.begin(), b.end());
  for (auto* values : {&a_, &b_, &each_wrong, &each_d2, &each_a2}) values->resize(all);
  odd_.clear();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(a[i]) && std::isfinite(b[i])) [[likely]]
      continue;
    odd_.push_back(i);
    a_[i] = b_[i] = 0;
  }
}

void SurveyRun::add_odd(std::span<const double> a, std::span<const double> b) {
  for (const std::size_t i : odd_) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    each_wrong[i] = 1;
    ++wrong;
    if (b[i] == 0) ++wrong_zeros;
  }
}

}  // namespace ttcheck::explain
