// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/coverage.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/error.hpp"

namespace ttcheck::assemble {
namespace {

/// Counts the work of one check.
class Budget {
 public:
  explicit Budget(std::int64_t steps) : left_(steps) {}

  void spend(std::size_t steps) {
    left_ -= static_cast<std::int64_t>(steps);
    if (left_ < 0) throw Error("the pieces are too many and too scattered to check");
  }

 private:
  std::int64_t left_;
};

/// The dimension along which most boxes start at different places.
std::size_t widest_dimension(const Shape& shape, std::span<const Box* const> boxes) {
  std::size_t best = 0;
  std::size_t most = 0;
  std::vector<std::int64_t> starts;
  starts.reserve(boxes.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    starts.clear();
    for (const Box* box : boxes) starts.push_back(box->lo[d]);
    std::sort(starts.begin(), starts.end());
    const auto distinct =
        static_cast<std::size_t>(std::unique(starts.begin(), starts.end()) - starts.begin());
    if (distinct > most) {
      most = distinct;
      best = d;
    }
  }
  return best;
}

/// Boxes in order of their start along `dim`, then in row-major order.
std::vector<std::size_t> sorted(std::span<const Box* const> boxes, std::size_t dim) {
  std::vector<std::size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (boxes[a]->lo[dim] != boxes[b]->lo[dim]) return boxes[a]->lo[dim] < boxes[b]->lo[dim];
    return boxes[a]->lo != boxes[b]->lo ? boxes[a]->lo < boxes[b]->lo : a < b;
  });
  return order;
}

/// A sweep along `dim`: only boxes that the front crosses are compared.
std::optional<std::pair<std::size_t, std::size_t>> find_overlap(
    std::span<const Box* const> boxes, const std::vector<std::size_t>& order, std::size_t dim,
    Budget& budget) {
  std::vector<std::size_t> active;
  for (const std::size_t i : order) {
    budget.spend(active.size());
    std::erase_if(active, [&](std::size_t j) {
      return boxes[j]->lo[dim] + boxes[j]->size[dim] <= boxes[i]->lo[dim];
    });
    for (const std::size_t j : active) {
      if (intersect(*boxes[i], *boxes[j])) return std::pair(std::min(i, j), std::max(i, j));
    }
    active.push_back(i);
  }
  return std::nullopt;
}

/// What is open, found by taking the boxes away in sweep order: parts that lie wholly behind the
/// front are final and not looked at again.
std::vector<Box> find_holes(const Shape& shape, std::span<const Box* const> boxes,
                            const std::vector<std::size_t>& order, std::size_t dim,
                            Budget& budget) {
  std::vector<Box> holes;
  std::vector<Box> open{whole(shape)};
  for (const std::size_t i : order) {
    budget.spend(open.size() + 1);
    std::vector<Box> next;
    for (Box& part : open) {
      if (part.lo[dim] + part.size[dim] <= boxes[i]->lo[dim]) {
        holes.push_back(std::move(part));
        continue;
      }
      for (Box& rest : subtract(part, *boxes[i])) next.push_back(std::move(rest));
    }
    open = std::move(next);
  }
  std::move(open.begin(), open.end(), std::back_inserter(holes));
  return holes;
}

}  // namespace

BoxCoverage check_coverage(const Shape& shape, std::span<const Box* const> boxes,
                           std::int64_t steps) {
  BoxCoverage coverage;
  const std::int64_t all = element_count(shape);
  if (all == 0) return coverage;
  std::int64_t left = all;  // below zero once boxes hold more
  for (const Box* box : boxes) {
    if (left >= 0) left -= volume(*box);
  }
  if (shape.empty()) {
    if (boxes.size() > 1) coverage.overlap = {0, 1};
    if (boxes.empty()) coverage.holes.push_back({});
    return coverage;
  }
  Budget budget(steps);
  const std::size_t dim = widest_dimension(shape, boxes);
  const auto order = sorted(boxes, dim);
  coverage.overlap = find_overlap(boxes, order, dim, budget);
  if (left != 0 || coverage.overlap) {
    coverage.holes = find_holes(shape, boxes, order, dim, budget);
  }
  return coverage;
}

}  // namespace ttcheck::assemble
