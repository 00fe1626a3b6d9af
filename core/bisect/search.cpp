// SPDX-License-Identifier: Apache-2.0
#include "core/bisect/search.hpp"

#include <algorithm>
#include <array>

namespace ttcheck::bisect {
namespace {

constexpr std::array<std::string_view, 3> kMarks = {"good", "bad", "skip"};

class Bisecting {
 public:
  Bisecting(std::size_t count, const std::map<std::size_t, Mark>& known, const Look& look,
            bool may_heal)
      : count_(count), known_(known), look_(look), may_heal_(may_heal) {}

  Bisection run(std::optional<std::size_t> likely) {
    const auto begin = likely && is_bad(*likely) ? likely : from_end_bad();
    if (!begin) return finish(std::nullopt);
    std::size_t bad = *begin;
    if (bad > 0 && begin == likely) is_bad(bad - 1);
    for (;;) {
      // [0, good) is before the last good place; 0: none is known.
      const std::size_t good = halve(bad);
      const auto before = may_heal_ && good > 1 ? nearest_before(good - 1) : std::nullopt;
      if (before && known_.at(*before) == Mark::bad) {
        bad = *before;
      } else if (const auto told = known_bad_before(good)) {
        bad = *told;
      } else {
        return finish(bad);
      }
    }
  }

 private:
  Mark mark(std::size_t place, Interval left) {
    const auto known = known_.find(place);
    if (known != known_.end()) return known->second;
    const Mark seen = look_(place, left);
    known_.emplace(place, seen);
    log_.emplace_back(place, seen);
    return seen;
  }

  bool is_bad(std::size_t place) { return mark(place, {0, count_}) == Mark::bad; }

  /// The last place that can be told, or where that is good the last before it that is known bad.
  std::optional<std::size_t> from_end_bad() {
    const auto last = nearest_before(count_);
    return last && known_.at(*last) == Mark::good ? known_bad_before(*last) : last;
  }

  /// The last bad place before `end` of those that need no look.
  std::optional<std::size_t> known_bad_before(std::size_t end) const {
    std::optional<std::size_t> bad;
    for (const auto& [place, mark] : known_) {
      if (place < end && mark == Mark::bad) bad = place;
    }
    return bad;
  }

  /// The nearest place before `end` that can be told.
  std::optional<std::size_t> nearest_before(std::size_t end) {
    for (std::size_t i = end; i-- > 0;) {
      if (mark(i, {0, end}) != Mark::skip) return i;
    }
    return std::nullopt;
  }

  /// The place nearest to the middle of [from, to) that can be told.
  std::optional<std::size_t> middle(std::size_t from, std::size_t to) {
    const std::size_t half = from + (to - from) / 2;
    for (std::size_t away = 0; away <= to - from; ++away) {
      for (const bool up : {false, true}) {
        if (!up && away > half - from) continue;
        const std::size_t place = up ? half + away : half - away;
        if (place < to && mark(place, {from, to}) != Mark::skip) return place;
      }
    }
    return std::nullopt;
  }

  /// Lowers `bad` to the first bad place behind the last good one before it, as far as is known
  /// without a look; returns one more than that good one, 0 for none.
  std::size_t close_in(std::size_t& bad) const {
    std::size_t from = 0;
    for (const auto& [place, mark] : known_) {
      if (place < bad && mark == Mark::good) from = place + 1;
    }
    const auto first = std::find_if(known_.lower_bound(from), known_.end(),
                                    [](const auto& known) { return known.second == Mark::bad; });
    bad = first->first;  // `bad` itself, if no other
    return from;
  }

  /// Lowers `bad` as far as halving leads; returns one more than the last good place, 0 for none.
  std::size_t halve(std::size_t& bad) {
    std::size_t from = close_in(bad);
    while (from < bad) {
      const auto place = middle(from, bad);
      if (!place) break;
      if (known_.at(*place) == Mark::bad) {
        bad = *place;
      } else {
        from = *place + 1;
      }
    }
    return from;
  }

  Bisection finish(std::optional<std::size_t> bad) {
    Bisection found;
    found.first_bad = bad;
    const std::size_t end = bad.value_or(count_);
    for (const auto& [place, mark] : known_) {
      if (place < end && mark == Mark::good) found.last_good = place;
    }
    for (const auto& [place, mark] : known_) {
      const bool between = place < end && (!found.last_good || place > *found.last_good);
      if (between && mark == Mark::skip) found.unknown.push_back(place);
    }
    found.log = std::move(log_);
    return found;
  }

  std::size_t count_;
  std::map<std::size_t, Mark> known_;
  const Look& look_;
  bool may_heal_;
  std::vector<std::pair<std::size_t, Mark>> log_;
};

}  // namespace

std::string_view name(Mark mark) { return kMarks[static_cast<std::size_t>(mark)]; }

std::optional<Mark> mark_named(std::string_view word) {
  const auto* found = std::ranges::find(kMarks, word);
  if (found == kMarks.end()) return std::nullopt;
  return static_cast<Mark>(found - kMarks.begin());
}

Bisection search(std::size_t count, const std::map<std::size_t, Mark>& known, const Look& look,
                 bool may_heal, std::optional<std::size_t> likely) {
  return Bisecting(count, known, look, may_heal).run(likely);
}

}  // namespace ttcheck::bisect
