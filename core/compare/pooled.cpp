// SPDX-License-Identifier: Apache-2.0
#include "core/compare/pooled.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/compare/values.hpp"

namespace ttcheck::compare {
namespace {

constexpr std::int64_t kLargest = 7;  ///< extent of a window
constexpr std::int64_t kMostInPlane = std::int64_t{1} << 24;

struct Plane {
  std::int64_t height = 0, width = 0;
  std::int64_t size() const { return height * width; }
};

/// A window's extent, how far it moves, and how far the first begins ahead of the plane.
struct Window {
  std::int64_t size = 0, step = 0, padding = 0;

  /// How many lie along `extent`; one that is cut short by its end counts where `cut` says so.
  std::int64_t along(std::int64_t extent, bool cut) const {
    const std::int64_t room = extent + 2 * padding - size + (cut ? step - 1 : 0);
    return room < 0 ? 0 : room / step + 1;
  }
};

/// Those that make planes of one size of planes of another.
std::vector<Window> windows_between(const Plane& values, const Plane& maxima) {
  std::vector<Window> windows;
  for (std::int64_t size = 2; size <= kLargest; ++size) {
    for (std::int64_t step = 1; step <= size; ++step) {
      for (std::int64_t padding = 0; padding <= size / 2; ++padding) {
        const Window window{size, step, padding};
        for (const bool cut : {false, true}) {
          if (window.along(values.height, cut) != maxima.height) continue;
          if (window.along(values.width, cut) != maxima.width) continue;
          windows.push_back(window);
          break;
        }
      }
    }
  }
  return windows;
}

/// One side, a plane at a time.
class Side {
 public:
  Side(const Tensor& values, const Tensor& maxima, const Tensor& above, const Tensor& gradient)
      : values_(values),
        maxima_(maxima),
        above_(above),
        gradient_(gradient),
        eps_(std::max(epsilon(above.dtype), epsilon(gradient.dtype))) {}

  /// Whether the plane is what this window makes of it; then `winners` and `gradient` are its.
  bool read(std::int64_t number, const Plane& plane, const Plane& pooled, const Window& window) {
    const auto values = values_.read(number * plane.size(), plane.size());
    const auto maxima = maxima_.read(number * pooled.size(), pooled.size());
    winners_.clear();
    for (std::int64_t row = 0; row < pooled.height; ++row) {
      for (std::int64_t column = 0; column < pooled.width; ++column) {
        const std::int64_t winner = winner_of(values, plane, window, row, column);
        if (winner < 0 || values[static_cast<std::size_t>(winner)] != maxima[winners_.size()]) {
          return false;
        }
        winners_.push_back(winner);
      }
    }
    return gathers(number, plane, pooled);
  }

  const std::vector<std::int64_t>& winners() const { return winners_; }  ///< by window
  std::span<const double> gradient() const { return slopes_; }

 private:
  /// The first of the largest, as who goes along rows and keeps what is larger finds it; below 0
  /// where there is none, or a NaN.
  static std::int64_t winner_of(std::span<const double> values, const Plane& plane,
                                const Window& window, std::int64_t row, std::int64_t column) {
    const std::int64_t top = row * window.step - window.padding;
    const std::int64_t left = column * window.step - window.padding;
    double largest = -std::numeric_limits<double>::infinity();
    std::int64_t winner = -1;
    for (std::int64_t y = std::max<std::int64_t>(top, 0);
         y < std::min(top + window.size, plane.height); ++y) {
      for (std::int64_t x = std::max<std::int64_t>(left, 0);
           x < std::min(left + window.size, plane.width); ++x) {
        const std::int64_t at = y * plane.width + x;
        const double value = values[static_cast<std::size_t>(at)];
        if (std::isnan(value)) return -1;
        if (!(value > largest)) continue;
        largest = value;
        winner = at;
      }
    }
    return winner;
  }

  /// Whether each place has the gradient of the windows that it won.
  bool gathers(std::int64_t number, const Plane& plane, const Plane& pooled) {
    const auto above = above_.read(number * pooled.size(), pooled.size());
    slopes_ = gradient_.read(number * plane.size(), plane.size());
    sums_.assign(slopes_.size(), 0);
    sizes_.assign(slopes_.size(), 0);
    for (std::size_t i = 0; i < winners_.size(); ++i) {
      const auto at = static_cast<std::size_t>(winners_[i]);
      sums_[at] += above[i];
      sizes_[at] += std::abs(above[i]);
    }
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      // A sum of n terms is rounded n times at most, by eps / 2 of what there is so far.
      if (!(std::abs(slopes_[i] - sums_[i]) <= kMostTerms * eps_ * sizes_[i])) return false;
    }
    return true;
  }

  static constexpr double kMostTerms = kLargest * kLargest;

  Values values_, maxima_, above_, gradient_;
  double eps_;
  std::vector<std::int64_t> winners_;
  std::span<const double> slopes_;
  std::vector<double> sums_, sizes_;
};

struct Shapes {
  std::int64_t planes = 0;
  Plane values, maxima;
};

/// Of two batches of images; nothing where they are not.
std::optional<Shapes> shapes_of(const Shape& values, const Shape& maxima) {
  if (values.size() != 4 || maxima.size() != 4) return std::nullopt;
  if (values[0] != maxima[0] || values[1] != maxima[1]) return std::nullopt;
  Shapes shapes{values[0] * values[1], {values[2], values[3]}, {maxima[2], maxima[3]}};
  if (element_count(values) == 0 || element_count(maxima) == 0) return std::nullopt;
  if (shapes.values.size() > kMostInPlane || shapes.maxima.size() > kMostInPlane) {
    return std::nullopt;
  }
  return shapes;
}

std::optional<Gated> by_window(const Pooling& pooling, const Shapes& shapes, const Window& window,
                               const Stop& stop) {
  const auto& [values, maxima, above, gradient] = pooling;
  Side a(*values.reference, *maxima.reference, *above.reference, *gradient.reference);
  Side b(*values.candidate, *maxima.candidate, *above.candidate, *gradient.candidate);
  Turned turned(shapes.values.width);
  std::vector<bool> other(static_cast<std::size_t>(shapes.values.size()));
  for (std::int64_t plane = 0; plane < shapes.planes; ++plane) {
    if (stop && stop()) throw Stopped();
    if (!a.read(plane, shapes.values, shapes.maxima, window)) return std::nullopt;
    if (!b.read(plane, shapes.values, shapes.maxima, window)) return std::nullopt;
    other.assign(other.size(), false);
    for (std::size_t i = 0; i < a.winners().size(); ++i) {
      if (a.winners()[i] == b.winners()[i]) continue;
      other[static_cast<std::size_t>(a.winners()[i])] = true;
      other[static_cast<std::size_t>(b.winners()[i])] = true;
    }
    for (std::size_t i = 0; i < other.size(); ++i) {
      turned.add(a.gradient()[i], b.gradient()[i], other[i]);
    }
  }
  return turned.take();
}

}  // namespace

std::optional<Gated> pooled(const Pooling& pooling, const Stop& stop) {
  const Shape& whole = pooling.values.reference->shape;
  const Shape& part = pooling.maxima.reference->shape;
  const auto shapes = shapes_of(whole, part);
  if (!shapes || !readable(pooling.values, whole) || !readable(pooling.gradient, whole) ||
      !readable(pooling.maxima, part) || !readable(pooling.gradient_of_maxima, part)) {
    return std::nullopt;
  }
  for (const Pair* pair :
       {&pooling.values, &pooling.maxima, &pooling.gradient_of_maxima, &pooling.gradient}) {
    if (bits(pair->reference->dtype) < 8 || bits(pair->candidate->dtype) < 8) return std::nullopt;
  }
  for (const Window& window : windows_between(shapes->values, shapes->maxima)) {
    if (const auto found = by_window(pooling, *shapes, window, stop)) return found;
  }
  return std::nullopt;
}

}  // namespace ttcheck::compare
