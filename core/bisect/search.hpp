// SPDX-License-Identifier: Apache-2.0
#pragma once
// The search for the first bad place of a row, looking at as few as possible.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace ttcheck::bisect {

/// What is known of one place; the words are git bisect's. `skip`: it cannot be told.
enum class Mark : std::uint8_t { good, bad, skip };

std::string_view name(Mark mark);
std::optional<Mark> mark_named(std::string_view word);

struct Bisection {
  std::optional<std::size_t> first_bad;  ///< none: no place that was looked at is bad
  std::optional<std::size_t> last_good;  ///< the nearest good one before it; without one, of all
  std::vector<std::size_t> unknown;      ///< skipped places between the two, ascending
  std::vector<std::pair<std::size_t, Mark>> log;  ///< what was looked at, in that order
};

/// What is left to search when a place is looked at: [from, to).
struct Interval {
  std::size_t from = 0, to = 0;
};

using Look = std::function<Mark(std::size_t place, Interval left)>;

/// Looks at the last place, then halves. `known` is not looked at again. Where what is bad
/// `may_heal`, the place before the last good one is looked at, too, and if that is bad the search
/// goes on before it. Looks at most at 3 + log2(count) places, and at as many again for each such
/// relapse and at each skipped one. The place that is `likely` the first bad one is looked at
/// first, and if it is bad the one before it: where the guess is right, at no more than these and
/// the one that may have healed.
Bisection search(std::size_t count, const std::map<std::size_t, Mark>& known, const Look& look,
                 bool may_heal, std::optional<std::size_t> likely = std::nullopt);

}  // namespace ttcheck::bisect
