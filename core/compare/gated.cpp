// SPDX-License-Identifier: Apache-2.0
#include "core/compare/gated.hpp"

#include <algorithm>
#include <cmath>

#include "core/compare/values.hpp"

namespace ttcheck::compare {
namespace {

/// Elements that are looked at first: where there is no gate, one of a few shows it.
constexpr std::int64_t kProbe = 512;

/// Sums over the elements in their order, row by row.
class Turned {
 public:
  explicit Turned(std::int64_t width) : width_(std::max<std::int64_t>(width, 1)) {}

  void add(double a, double b, bool turned) {
    if (at_ % width_ == 0) row_ = 0;
    ++at_;
    sum_a2_ += a * a;
    if (!turned) return;
    const double apart = b - a;
    ++found_.turned;
    row_ += apart * apart;
    sum_d2_ += apart * apart;
    worst_row_ = std::max(worst_row_, row_);
    largest_ = std::max(largest_, std::abs(apart));
  }

  /// Infinite where all of the reference is zero.
  Gated take() const {
    Gated found = found_;
    if (found.turned == 0) return found;
    const double mean_a2 = sum_a2_ / static_cast<double>(at_);
    found.rel = std::sqrt(sum_d2_ / sum_a2_);
    found.row = std::sqrt(worst_row_ / (mean_a2 * static_cast<double>(width_)));
    found.outlier = largest_ / std::sqrt(mean_a2);
    return found;
  }

 private:
  std::int64_t width_, at_ = 0;
  double sum_a2_ = 0, sum_d2_ = 0, row_ = 0, worst_row_ = 0, largest_ = 0;
  Gated found_;
};

}  // namespace

std::optional<Gated> gated(const Pair& values, const Pair& gradient, const Stop& stop) {
  const Shape& shape = gradient.reference->shape;
  if (!readable(values, shape) || !readable(gradient, shape)) return std::nullopt;
  Values va(*values.reference), vb(*values.candidate);
  Values ga(*gradient.reference), gb(*gradient.candidate);
  Turned turned(shape.empty() ? 1 : shape.back());
  const std::int64_t count = element_count(shape);
  std::int64_t size = kProbe;
  for (std::int64_t begin = 0; begin < count; begin += size, size = kValuesRange) {
    if (stop && stop()) throw Stopped();
    size = std::min(size, count - begin);
    const auto left = va.read(begin, size), right = vb.read(begin, size);
    const auto a = ga.read(begin, size), b = gb.read(begin, size);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const bool open_a = left[i] > 0, open_b = right[i] > 0;
      if ((!open_a && a[i] != 0) || (!open_b && b[i] != 0)) return std::nullopt;
      turned.add(a[i], b[i], open_a != open_b);
    }
  }
  return turned.take();
}

}  // namespace ttcheck::compare
