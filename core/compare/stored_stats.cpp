// SPDX-License-Identifier: Apache-2.0
#include "core/compare/stored_stats.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ttcheck::compare {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Two statistics that are not both finite are the same or not.
bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// The larger of the magnitudes that are finite.
double finite_size(double a, double b) {
  const auto size = [](double x) { return std::isfinite(x) ? std::fabs(x) : 0; };
  return std::max(size(a), size(b));
}

class Comparison {
 public:
  /// |b - a| over `size`, against `limit`.
  void offer(double a, double b, double size, double limit) {
    double error = 0;
    if (!std::isfinite(a) || !std::isfinite(b)) {
      worst_.alike = worst_.alike || same(a, b);
      worst_.non_finite = worst_.non_finite || !same(a, b);
      error = same(a, b) ? 0 : kInfinite;
    } else if (a != b) {
      error = std::fabs(b - a) / std::fabs(size);  // of zero: infinite
    }
    const double ratio = error == 0 ? 0 : limit > 0 ? error / limit : kInfinite;
    if (ratio < worst_.ratio) return;
    worst_.error = error;
    worst_.allowed = limit;
    worst_.ratio = ratio;
  }

  void disagree() {
    worst_.non_finite = true;
    worst_.error = worst_.ratio = kInfinite;
  }

  const StatsError& worst() const { return worst_; }

 private:
  StatsError worst_;
};

bool differ(const std::optional<std::int64_t>& a, const std::optional<std::int64_t>& b) {
  return a && b && *a != *b;
}

}  // namespace

StatsError compare_stats(const StoredStats& a, const StoredStats& b, const Limit& limit) {
  Comparison made;
  if (differ(a.nan, b.nan) || differ(a.inf, b.inf)) made.disagree();
  const bool tolerance = limit.kind == LimitKind::tolerance;
  const double size = finite_size(a.min, a.max);
  const auto offer = [&](double x, double y, double over, double most) {
    if (tolerance) return made.offer(x, y, limit.atol + limit.rtol * std::fabs(x), 1);
    made.offer(x, y, over, most);
  };
  if (a.l2 && b.l2) offer(*a.l2, *b.l2, *a.l2, limit.rel);
  if (a.l1 && b.l1) offer(*a.l1, *b.l1, *a.l1, limit.rel);
  if (a.mean && b.mean) {
    const bool rms = a.l2 && std::isfinite(*a.l2) && a.numel > 0;
    const double over = rms ? *a.l2 / std::sqrt(static_cast<double>(a.numel)) : size;
    offer(*a.mean, *b.mean, over, rms ? limit.rel : limit.outlier);
  }
  offer(a.min, b.min, size, limit.outlier);
  offer(a.max, b.max, size, limit.outlier);
  return made.worst();
}

}  // namespace ttcheck::compare
