// SPDX-License-Identifier: Apache-2.0
// Two steps, each of which does well where the other does not.
//
// A symbol that is on each side once is most likely the same event, however far it has moved: of
// all such pairs the longest run that ascends on both sides is kept (patience diff, Bram Cohen).
// They cut the sequences into stretches, so that repeated symbols are only matched near to where
// they were.
//
// In each stretch, once equal symbols at both ends are taken off, Myers' greedy algorithm ("An
// O(ND) difference algorithm and its variations", 1986) finds the path of fewest insertions and
// removals d. Its state after each d, 2d + 1 numbers, is kept for the way back, so memory is d^2:
// beyond `most` the stretch is given up. Nothing is recursive.

#include "core/align/sequence.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace ttcheck::align {
namespace {

using Symbols = std::span<const std::uint32_t>;
using Match = std::pair<std::size_t, std::size_t>;

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// The place of each symbol; kNone for one that is there more than once.
std::unordered_map<std::uint32_t, std::size_t> only_places(Symbols symbols) {
  std::unordered_map<std::uint32_t, std::size_t> places;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const auto [slot, fresh] = places.try_emplace(symbols[i], i);
    if (!fresh) slot->second = kNone;
  }
  return places;
}

/// The longest run of `matches` (ascending in the first) that ascends in the second, too.
std::vector<Match> longest_ascending(const std::vector<Match>& matches) {
  std::vector<std::size_t> ends;  // by length - 1: the match that ends such a run lowest
  std::vector<std::size_t> before(matches.size(), kNone);
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const auto at = std::ranges::lower_bound(ends, matches[i].second, {},
                                             [&](std::size_t n) { return matches[n].second; });
    if (at != ends.begin()) before[i] = *std::prev(at);
    if (at == ends.end()) {
      ends.push_back(i);
    } else {
      *at = i;
    }
  }
  std::vector<Match> run;
  for (std::size_t i = ends.empty() ? kNone : ends.back(); i != kNone; i = before[i]) {
    run.push_back(matches[i]);
  }
  std::ranges::reverse(run);
  return run;
}

std::vector<Match> anchors(Symbols a, Symbols b) {
  const auto left = only_places(a);
  const auto right = only_places(b);
  std::vector<Match> matches;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (left.at(a[i]) == kNone) continue;
    const auto found = right.find(a[i]);
    if (found != right.end() && found->second != kNone) matches.emplace_back(i, found->second);
  }
  return longest_ascending(matches);
}

/// Myers' algorithm on one stretch. Diagonal k holds the places x, y with x - y = k; of each d the
/// furthest x on the diagonals -d, -d + 2, ... d is kept.
class Stretch {
 public:
  Stretch(Symbols a, Symbols b, std::size_t most)
      : a_(a), b_(b), most_(static_cast<std::ptrdiff_t>(most)) {}

  /// Appends the matches, moved by the stretch's own start.
  void match(std::size_t from_a, std::size_t from_b, std::vector<Match>& out) {
    const auto n = std::ssize(a_), m = std::ssize(b_);
    std::ptrdiff_t d = 0;
    for (; d <= std::min(most_, n + m); ++d) {
      if (advance(d)) break;
    }
    if (d > std::min(most_, n + m)) return;
    std::vector<Match> found;
    std::ptrdiff_t x = n, y = m;
    for (; d > 0; --d) {
      const std::ptrdiff_t k = x - y;
      const bool down = goes_down(d, k);
      const std::ptrdiff_t from = down ? k + 1 : k - 1;
      const std::ptrdiff_t px = far(d - 1, from), py = px - from;
      for (; x > (down ? px : px + 1); --x, --y) found.emplace_back(x - 1, y - 1);
      x = px;
      y = py;
    }
    for (; x > 0 && y > 0; --x, --y) found.emplace_back(x - 1, y - 1);
    for (auto one = found.rbegin(); one != found.rend(); ++one) {
      out.emplace_back(from_a + one->first, from_b + one->second);
    }
  }

 private:
  /// Furthest x on diagonal k after d steps; diagonals of another parity were not reached.
  std::ptrdiff_t far(std::ptrdiff_t d, std::ptrdiff_t k) const {
    if (k < -d || k > d) return -1;
    return reached_[static_cast<std::size_t>(d)][static_cast<std::size_t>((k + d) / 2)];
  }

  /// Whether the d-th step to diagonal k takes a symbol of b (else one of a).
  bool goes_down(std::ptrdiff_t d, std::ptrdiff_t k) const {
    return k == -d || (k != d && far(d - 1, k - 1) < far(d - 1, k + 1));
  }

  /// All diagonals after d steps; true when the end of both was reached. Paths may leave the sides:
  /// they never come to that end sooner than those that don't.
  bool advance(std::ptrdiff_t d) {
    const auto n = std::ssize(a_), m = std::ssize(b_);
    std::vector<std::int32_t> row;
    row.reserve(static_cast<std::size_t>(d) + 1);
    bool done = false;
    for (std::ptrdiff_t k = -d; k <= d; k += 2) {
      std::ptrdiff_t x = 0;
      if (d > 0) x = goes_down(d, k) ? far(d - 1, k + 1) : far(d - 1, k - 1) + 1;
      while (x < n && x - k < m &&
             a_[static_cast<std::size_t>(x)] == b_[static_cast<std::size_t>(x - k)]) {
        ++x;
      }
      row.push_back(static_cast<std::int32_t>(x));
      done = done || (x >= n && x - k >= m);
    }
    reached_.push_back(std::move(row));
    return done;
  }

  Symbols a_, b_;
  std::ptrdiff_t most_;
  std::vector<std::vector<std::int32_t>> reached_;
};

void match_stretch(Symbols a, Symbols b, Match from, std::size_t most, std::vector<Match>& out) {
  std::size_t front = 0, back = 0;
  const std::size_t both = std::min(a.size(), b.size());
  while (front < both && a[front] == b[front]) ++front;
  while (back < both - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  for (std::size_t i = 0; i < front; ++i) out.emplace_back(from.first + i, from.second + i);
  const Symbols inner_a = a.subspan(front, a.size() - front - back);
  const Symbols inner_b = b.subspan(front, b.size() - front - back);
  if (!inner_a.empty() && !inner_b.empty()) {
    Stretch(inner_a, inner_b, most).match(from.first + front, from.second + front, out);
  }
  for (std::size_t i = back; i > 0; --i) {
    out.emplace_back(from.first + a.size() - i, from.second + b.size() - i);
  }
}

}  // namespace

std::vector<Match> common_sequence(Symbols a, Symbols b, std::size_t most) {
  std::vector<Match> out;
  Match from{0, 0};
  std::vector<Match> fixed = anchors(a, b);
  fixed.emplace_back(a.size(), b.size());
  for (const auto& [i, j] : fixed) {
    match_stretch(a.subspan(from.first, i - from.first), b.subspan(from.second, j - from.second),
                  from, most, out);
    if (i < a.size()) out.emplace_back(i, j);
    from = {i + 1, j + 1};
  }
  return out;
}

}  // namespace ttcheck::align
