// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/lengths.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/checked.hpp"

namespace ttcheck::assemble {
namespace {

constexpr std::int64_t kMaxGuesses = 256;

struct Held {
  std::int64_t sum = 0;  ///< of what is there
  std::int64_t longest = 0;
  std::int64_t places = 1;  ///< coordinates that there are
  bool complete = false;    ///< all of them are there
};

Held held(const DimPlan& dim, const std::vector<AxisUse>& axes, const Lengths& lengths,
          const Stated& stated) {
  Held result;
  for (const Shard& shard : dim.shards) {
    result.places = checked_mul(result.places, axes[shard.axis].n);
  }
  for (const auto& [at, length] : lengths) {
    result.sum = checked_add(result.sum, length);
    result.longest = std::max(result.longest, length);
  }
  result.complete = stated.others_hold_none || std::ssize(lengths) == result.places;
  return result;
}

/// Part lengths of a dimension of `length`; parts without a size share the rest equally.
std::vector<std::int64_t> part_lengths(const Stated& stated, std::int64_t length) {
  std::int64_t sized = 0;
  std::int64_t open = 0;
  for (const auto& size : stated.parts) {
    sized = checked_add(sized, size.value_or(0));
    if (!size) ++open;
  }
  const std::int64_t rest = checked_sub(length, sized);
  if (rest < 0 || (open == 0 && rest != 0) || (open > 0 && rest % open != 0)) {
    throw Error(fmt::format("the parts do not fill the dimension: {} for {} in {} parts", length,
                            sized, stated.parts.size()));
  }
  std::vector<std::int64_t> lengths;
  for (const auto& size : stated.parts) lengths.push_back(size ? *size : rest / open);
  return lengths;
}

/// Whether each piece is as long as what its coordinates hold.
bool fits(const DimPlan& dim, const std::vector<AxisUse>& axes, const Lengths& lengths) {
  for (const auto& [at, length] : lengths) {
    Extents full(axes.size(), 0);
    for (std::size_t i = 0; i < dim.shards.size(); ++i) full[dim.shards[i].axis] = at[i];
    if (length != total(ranges_at(dim, axes, full))) return false;
  }
  return true;
}

/// Sets the length and tries it; false when the pieces do not fit it.
bool try_length(DimPlan& dim, const std::vector<AxisUse>& axes, const Lengths& lengths,
                const Stated& stated, std::int64_t length) {
  try {
    dim.length = dim.stored = length;
    if (!stated.parts.empty()) dim.parts = part_lengths(stated, length);
    return fits(dim, axes, lengths);
  } catch (const Error&) {
    return false;
  }
}

/// Pieces that follow no rule lie one after the other, each as long as it is; outermost first.
std::map<Extents, Range> join(const std::vector<Shard>& shards, const Lengths& lengths) {
  std::map<Extents, Range> joined;
  for (const auto& [at, length] : lengths) {
    for (std::size_t i = 0; i < shards.size(); ++i) {
      if (!is_plain(shards[i])) continue;
      Range& range = joined[Extents(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(i) + 1)];
      range.end = checked_add(range.end, length);
    }
  }
  std::map<Extents, std::int64_t> filled;  // of what is cut, by its coordinates
  for (auto& [at, range] : joined) {       // in order of the last coordinate
    std::int64_t& begin = filled[Extents(at.begin(), at.end() - 1)];
    range = {begin, begin + range.end};
    begin = range.end;
  }
  return joined;
}

/// The length that the line itself fixes: all parts sized, or outermost `sizes=`.
std::optional<std::int64_t> written_length(const DimPlan& dim, const Stated& stated) {
  if (stated.length) return stated.length;
  const bool sized =
      !stated.parts.empty() && std::all_of(stated.parts.begin(), stated.parts.end(),
                                           [](const auto& size) { return size.has_value(); });
  std::int64_t sum = 0;
  if (sized) {
    for (const auto& size : stated.parts) sum = checked_add(sum, *size);
    return sum;
  }
  if (dim.shards.empty() || dim.shards.front().spec.sizes.empty()) return std::nullopt;
  for (const std::int64_t size : dim.shards.front().spec.sizes) sum = checked_add(sum, size);
  return checked_mul(sum, std::max<std::int64_t>(std::ssize(stated.parts), 1));
}

std::int64_t align_up(std::int64_t length, std::int64_t multiple) {
  return checked_mul(ceil_div(length, multiple), multiple);
}

/// The length with its padding, as it is cut.
std::int64_t stored_length(const DimPlan& dim, const Stated& stated, const Held& held) {
  if (stated.align) return align_up(dim.length, *stated.align);
  const bool sized = std::any_of(dim.shards.begin(), dim.shards.end(),
                                 [](const Shard& shard) { return !shard.spec.sizes.empty(); });
  if (!stated.length || sized) return dim.length;
  return std::max(dim.length, held.complete ? held.sum : checked_mul(held.places, held.longest));
}

void settle_written(DimPlan& dim, const std::vector<AxisUse>& axes, const Lengths& lengths,
                    const Stated& stated, const Held& there, std::int64_t written) {
  // With ranks missing, the longest piece may be an uneven one; nothing then shows padding.
  const bool exact = !there.complete && !stated.align;
  if (exact && try_length(dim, axes, lengths, stated, written)) return;
  dim.length = written;
  dim.stored = stored_length(dim, stated, there);
  if (!stated.parts.empty()) dim.parts = part_lengths(stated, dim.length);
}

void settle_by_what_is_there(DimPlan& dim, const std::vector<AxisUse>& axes, const Lengths& lengths,
                             const Stated& stated, const Held& there) {
  const std::int64_t most = there.complete ? there.sum : checked_mul(there.places, there.longest);
  const std::int64_t guesses = there.complete ? 1 : std::min(kMaxGuesses, there.places);
  for (std::int64_t less = 0; less < guesses && less <= most; ++less) {
    if (try_length(dim, axes, lengths, stated, most - less)) return;
  }
  dim.length = dim.stored = most;
  if (!stated.parts.empty()) dim.parts = part_lengths(stated, most);
  if (is_of_batch(dim, axes)) {
    dim.joined = join(dim.shards, lengths);
    dim.length = dim.stored = there.sum;
  }
  if (stated.align) dim.stored = align_up(dim.length, *stated.align);
}

}  // namespace

void settle_length(DimPlan& dim, const std::vector<AxisUse>& axes, const Lengths& lengths,
                   const Stated& stated) {
  const Held there = held(dim, axes, lengths, stated);
  const auto written = written_length(dim, stated);
  if (written) {
    settle_written(dim, axes, lengths, stated, there, *written);
  } else {
    settle_by_what_is_there(dim, axes, lengths, stated, there);
  }
  dim.least = dim.length;
  if (written || there.complete) return;
  DimPlan shorter = dim;
  const std::int64_t guesses = std::min(kMaxGuesses, dim.length - there.sum);
  for (std::int64_t less = 1; less <= guesses; ++less) {
    if (!try_length(shorter, axes, lengths, stated, dim.length - less)) continue;
    dim.least = std::min(there.sum, dim.length);
    return;
  }
}

}  // namespace ttcheck::assemble
