// SPDX-License-Identifier: Apache-2.0
#include "core/explain/matching.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/require.hpp"

namespace ttcheck::explain {
namespace {

constexpr std::size_t kMostTried = 64;  ///< reference slices that one is compared with

using From = std::vector<std::int64_t>;

class Matching {
 public:
  Matching(const Sketches& a, const Sketches& b, double noise)
      : a_(a), b_(b), noise_(noise), taken_(a.of.size()) {}

  std::optional<From> run() {
    From from(b_.of.size(), -1);
    for (std::size_t i = 0; i < from.size(); ++i) {  // what is in its place stays
      if (!fits(i, i)) continue;
      from[i] = static_cast<std::int64_t>(i);
      taken_[i] = true;
    }
    // One look at all tells most of what is no rearrangement, for less than putting them in order.
    const auto first = static_cast<std::size_t>(std::ranges::find(from, -1) - from.begin());
    if (first == from.size()) return from;
    if (!is_anywhere(first)) return std::nullopt;
    put_in_order();
    for (std::size_t i = first; i < from.size(); ++i) {
      if (from[i] >= 0) continue;
      const auto found = find(i);
      if (!found) return std::nullopt;
      from[i] = static_cast<std::int64_t>(*found);
      taken_[*found] = true;
    }
    return from;
  }

 private:
  double reach(std::size_t i) const { return kSketchSigmas * noise_ * std::sqrt(b_.norm2[i]); }

  bool fits(std::size_t a, std::size_t b) const {
    const double most = reach(b);
    return distance2(a_.of[a], b_.of[b]) <= most * most;
  }

  bool is_anywhere(std::size_t b) const {
    for (std::size_t i = 0; i < a_.of.size(); ++i) {
      if (!taken_[i] && fits(i, b)) return true;
    }
    return false;
  }

  void put_in_order() {
    order_.resize(a_.of.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return a_.of[i][0]; });
  }

  std::optional<std::size_t> find(std::size_t b) const {
    const double most = reach(b);
    auto at = std::ranges::lower_bound(order_, b_.of[b][0] - most, {},
                                       [&](std::size_t i) { return a_.of[i][0]; });
    std::optional<std::size_t> best;
    double least = 0;
    for (std::size_t tried = 0; at != order_.end() && tried < kMostTried; ++at) {
      if (a_.of[*at][0] > b_.of[b][0] + most) break;
      if (taken_[*at]) continue;
      ++tried;
      const double distance = distance2(a_.of[*at], b_.of[b]);
      if (distance > most * most || (best && distance >= least)) continue;
      best = *at;
      least = distance;
    }
    return best;
  }

  const Sketches& a_;
  const Sketches& b_;
  double noise_;
  std::vector<std::size_t> order_;  ///< of A's slices, by the first number of their sketches
  std::vector<bool> taken_;
};

}  // namespace

std::optional<From> matching(const Sketches& a, const Sketches& b, double noise) {
  require(a.of.size() == b.of.size(), "as many slices of both");
  return Matching(a, b, noise).run();
}

double left2(const Sketches& a, const Sketches& b, const From& from) {
  double sum = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    sum += distance2(a.of[static_cast<std::size_t>(from[i])], b.of[i]);
  }
  return sum;
}

}  // namespace ttcheck::explain
