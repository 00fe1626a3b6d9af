// SPDX-License-Identifier: Apache-2.0
#include "core/explain/orders.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/require.hpp"

namespace ttcheck::explain {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::int64_t size_of(const Order& order) { return static_cast<std::int64_t>(order.size()); }

Order inverse(const Order& order) {
  Order back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[at(order[i])] = static_cast<std::int64_t>(i);
  return back;
}

/// Is it the transpose of an r x n/r matrix of blocks? Where r does not divide n no order is.
bool is_transpose(const Order& order, std::int64_t begin, std::int64_t n, std::int64_t r) {
  if (r < 2 || n / r < 2) return false;
  for (std::int64_t i = 0; i < n; ++i) {
    if (order[at(begin + i)] != begin + (i % r) * (n / r) + i / r) return false;
  }
  return true;
}

/// The offsets in their period within which all blocks that moved lie; where none moved, an end
/// before the first.
struct Reordered {
  std::int64_t first, end;
};

Reordered moved_within(const Order& order, std::int64_t period) {
  Reordered moved{period, 0};
  for (std::int64_t i = 0; i < size_of(order); ++i) {
    if (order[at(i)] == i) continue;
    moved.first = std::min(moved.first, i % period);
    moved.end = std::max(moved.end, i % period + 1);
  }
  return moved;
}

/// Are the halves of that part, in each period, as they were, swapped, or interleaved either way?
bool are_halves(const Order& order, std::int64_t period, Reordered part, bool may_swap) {
  const std::int64_t n = part.end - part.first;
  const bool at_an_end = part.first == 0 || part.end == period;
  if (part.first < 0 || part.end > period || !at_an_end || n % 2 != 0) return false;
  for (std::int64_t begin = part.first; begin < size_of(order); begin += period) {
    bool same = true, swapped = may_swap;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t from = order[at(begin + i)] - begin;
      same = same && from == i;
      swapped = swapped && from == (i + n / 2) % n;
    }
    if (!same && !swapped && !is_transpose(order, begin, n, 2) &&
        !is_transpose(order, begin, n, n / 2)) {
      return false;
    }
  }
  return true;
}

bool moves_in_each(const Order& order, std::int64_t period) {
  for (std::int64_t begin = 0; begin < size_of(order); begin += period) {
    bool moves = false;
    for (std::int64_t i = begin; i < begin + period && !moves; ++i) moves = order[at(i)] != i;
    if (!moves) return false;
  }
  return true;
}

/// The place of a block in one of two parts, `run` blocks of each in turn.
struct Stand {
  std::int64_t part, place;
};

Stand stand_of(std::int64_t i, std::int64_t run) {
  return {i / run % 2, i / (2 * run) * run + i % run};
}

/// Does every block keep its place, and all their part or none?
bool is_regrouped(const Order& order, std::int64_t run, std::int64_t candidate_run) {
  const bool other = stand_of(0, candidate_run).part != stand_of(order[0], run).part;
  std::int64_t i = 0;
  for (const std::int64_t from : order) {
    const Stand now = stand_of(i++, candidate_run), then = stand_of(from, run);
    if (now.place != then.place || (now.part != then.part) != other) return false;
  }
  return true;
}

/// Does every block keep its place, in whatever part? Parts were swapped then in some of the
/// places, those of some ranks.
bool is_swapped_in_places(const Order& order, std::int64_t run) {
  std::int64_t i = 0;
  return std::ranges::all_of(order, [&](std::int64_t from) {
    return stand_of(i++, run).place == stand_of(from, run).place;
  });
}

bool is_split_apart(const Order& order) {
  const std::int64_t n = size_of(order);
  std::int64_t cut = 0;  // of a period: the length of its first part
  while (cut < n && order[at(cut)] == cut) ++cut;
  if (cut == n) return false;
  const std::int64_t period = order[at(cut)];  // no order is one of periods that do not divide n
  const std::int64_t firsts = n / period * cut, rest = period - cut;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t j = i - firsts;
    const std::int64_t from =
        j < 0 ? i / cut * period + i % cut : j / rest * period + cut + j % rest;
    if (order[at(i)] != from) return false;
  }
  return true;
}

}  // namespace

std::int64_t block_of(const Order& from) {
  std::int64_t block = size_of(from);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (i > 0 && from[i] == from[i - 1] + 1) continue;
    block = std::gcd(block, std::gcd(static_cast<std::int64_t>(i), from[i]));
  }
  return std::max<std::int64_t>(block, 1);
}

Order blocks_of(const Order& from, std::int64_t block) {
  require(block > 0 && std::ssize(from) % block == 0, "whole blocks");
  Order order;
  for (std::size_t i = 0; i < from.size(); i += at(block)) order.push_back(from[i] / block);
  return order;
}

std::optional<std::int64_t> roll_of(const Order& order) {
  const auto breaks = [n = size_of(order)](std::int64_t before, std::int64_t block) {
    return block != (before + 1) % n;
  };
  if (std::ranges::adjacent_find(order, breaks) != order.end()) return std::nullopt;
  return order[0];
}

bool is_transpose_by(const Order& order, std::int64_t r) {
  const std::int64_t n = size_of(order);
  return is_transpose(order, 0, n, r) || (n % r == 0 && is_transpose(order, 0, n, n / r));
}

bool is_transpose_of_any(const Order& order) {
  for (std::int64_t r = 2; r < size_of(order); ++r) {
    if (is_transpose(order, 0, size_of(order), r)) return true;
  }
  return false;
}

bool is_grouped(const Order& order) {
  const std::int64_t n = size_of(order);
  for (std::int64_t groups = 2; groups * 3 <= n; ++groups) {
    if (n % groups != 0) continue;
    const std::int64_t queries = n / groups - 2;  // of one group
    Order grouped;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t group = i / (queries + 2);
      const std::int64_t place = i % (queries + 2);
      grouped.push_back(place < queries ? group * queries + place : groups * place + group);
    }
    if (order == grouped || order == inverse(grouped)) return true;
  }
  return false;
}

bool is_rotary(const Order& order, std::int64_t period, bool known) {
  constexpr std::int64_t kLeast = 4;  // two blocks can only be swapped
  if (period < 2 || size_of(order) % period != 0) return false;
  const Reordered moved = moved_within(order, period);
  // Interleaving leaves the first and the last of a part in their places.
  const Reordered wider{moved.first - 1, moved.end + 1};
  const bool may_swap = known || moved.end - moved.first >= kLeast;
  for (const Reordered& part : {moved, wider}) {
    if (!are_halves(order, period, part, may_swap)) continue;
    // A few neighbours that changed places would be a part of a head of some length.
    const bool whole = part.first == 0 && part.end == period;
    if (known || whole || moves_in_each(order, period)) return true;
  }
  return false;
}

bool is_two_parts(const Order& order) {
  constexpr std::int64_t kMostOfEach = 32;  // blocks of a part, of which some may have moved
  const std::int64_t n = size_of(order);
  if (n % 2 != 0) return false;
  for (std::int64_t run = 1; run <= n / 2; ++run) {
    if (n / 2 % run != 0) continue;
    for (const std::int64_t other : {std::int64_t{1}, n / 2}) {
      if (is_regrouped(order, run, other) || is_regrouped(order, other, run)) return true;
    }
  }
  return n / 2 <= kMostOfEach &&
         (is_swapped_in_places(order, 1) || is_swapped_in_places(order, n / 2));
}

bool is_roll_of_each(const Order& order, std::int64_t period) {
  const std::int64_t n = size_of(order);
  const bool all_move = period == 0;
  std::int64_t by = 0;
  if (all_move) {  // where block 0 went tells how long the first period is
    by = order[0];
    period = by + std::distance(order.begin(), std::ranges::find(order, 0));
  }
  if (period < 2 || n % period != 0) return false;
  for (std::int64_t begin = 0; begin < n; begin += period) {
    const std::int64_t here = order[at(begin)] - begin;
    const bool as_it_was = here == 0;
    if (as_it_was && all_move) return false;
    if (by == 0) by = here;
    if (!as_it_was && here != by) return false;
    for (std::int64_t i = 0; i < period; ++i) {
      if (order[at(begin + i)] != begin + (i + here) % period) return false;
    }
  }
  return by > 0;
}

bool is_split(const Order& order) {
  return is_split_apart(order) || is_split_apart(inverse(order));
}

bool is_zigzag(const Order& order) {
  const std::int64_t n = size_of(order);
  if (n < 4 || n % 2 != 0) return false;
  Order zigzag;
  for (std::int64_t i = 0; i < n; ++i) zigzag.push_back(i % 2 == 0 ? i / 2 : n - 1 - i / 2);
  return order == zigzag || order == inverse(zigzag);
}

}  // namespace ttcheck::explain
