// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/cut.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/checked.hpp"
#include "core/base/require.hpp"

namespace ttcheck::assemble {
namespace {

/// Chunk `i` of `n` of the positions of `whole`, by the ceiling rule: the last may be short or
/// empty.
Range chunk(Range whole, std::int64_t n, std::int64_t i) {
  const std::int64_t step = whole.size() == 0 ? 0 : ceil_div(whole.size(), n);
  if (step == 0 || i > whole.size() / step) return {whole.end, whole.end};
  const std::int64_t begin = whole.begin + i * step;
  return {begin, whole.end - begin < step ? whole.end : begin + step};
}

Range by_sizes(Range whole, const std::vector<std::int64_t>& sizes, std::int64_t n,
               std::int64_t r) {
  if (std::ssize(sizes) != n) {
    throw Error(fmt::format("sizes={} has {} numbers, the axis has {}", fmt::join(sizes, "/"),
                            sizes.size(), n));
  }
  std::int64_t sum = 0;
  for (const std::int64_t size : sizes) sum = checked_add(sum, size);
  if (sum != whole.size()) {
    throw Error(fmt::format("sizes={} add up to {}, the dimension has {}", fmt::join(sizes, "/"),
                            sum, whole.size()));
  }
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < r; ++i) begin += sizes[static_cast<std::size_t>(i)];
  return {begin, begin + sizes[static_cast<std::size_t>(r)]};
}

Ranges by_stride(Range whole, std::int64_t factor, std::int64_t n, std::int64_t r) {
  Ranges held;
  const std::int64_t pieces = std::min(factor, whole.size());
  if (pieces > static_cast<std::int64_t>(kMaxRanges)) {
    throw Error(fmt::format("stride={} cuts into more than {} ranges", factor, kMaxRanges));
  }
  for (std::int64_t i = 0; i < pieces; ++i) append(held, chunk(chunk(whole, factor, i), n, r));
  return held;
}

Ranges by_blocks(Range whole, std::int64_t block, std::int64_t n, std::int64_t r) {
  const std::int64_t length = whole.size();
  if (length == 0) return {};
  Ranges held;
  for (std::int64_t j = r, blocks = ceil_div(length, block); j < blocks; j += n) {
    const std::int64_t begin = j * block;
    append(held, {begin, length - begin < block ? length : begin + block});
    if (blocks - j <= n) break;  // j + n may not fit
  }
  return held;
}

/// Positions that coordinate `r` of `n` holds, ascending.
Ranges positions(Range whole, const ShardSpec& spec, std::int64_t n, std::int64_t r) {
  Ranges held;
  if (!spec.sizes.empty()) {
    append(held, by_sizes(whole, spec.sizes, n, r));
  } else if (spec.zigzag) {
    const std::int64_t chunks = checked_mul<std::int64_t>(2, n);
    append(held, chunk(whole, chunks, r));
    append(held, chunk(whole, chunks, chunks - 1 - r));
  } else if (spec.stride > 0) {
    held = by_stride(whole, spec.stride, n, r);
  } else if (spec.interleave > 0 && n > 1) {
    held = by_blocks(whole, spec.interleave, n, r);
  } else {
    append(held, chunk(whole, n, r));
  }
  return held;
}

}  // namespace

std::int64_t total(const Ranges& ranges) {
  std::int64_t sum = 0;
  for (const Range& range : ranges) sum = checked_add(sum, range.size());
  return sum;
}

void append(Ranges& ranges, Range next) {
  if (next.size() <= 0) return;
  if (!ranges.empty() && ranges.back().end == next.begin) {
    ranges.back().end = next.end;
    return;
  }
  if (ranges.size() == kMaxRanges) {
    throw Error(fmt::format("a piece is cut into more than {} ranges", kMaxRanges));
  }
  ranges.push_back(next);
}

Ranges select(const Ranges& ranges, const Ranges& at) {
  Ranges chosen;
  std::size_t i = 0;
  std::int64_t before = 0;  // elements ahead of ranges[i]
  for (Range want : at) {
    while (i < ranges.size() && want.size() > 0) {
      const std::int64_t after = before + ranges[i].size();
      if (after <= want.begin) {
        before = after;
        ++i;
        continue;
      }
      const std::int64_t end = std::min(want.end, after);
      append(chosen, {ranges[i].begin + (want.begin - before), ranges[i].begin + (end - before)});
      want.begin = end;
    }
  }
  return chosen;
}

Ranges cut(const Ranges& ranges, const ShardSpec& spec, std::int64_t n, std::int64_t r) {
  require(0 <= r && r < n, "a coordinate of the axis");
  const std::int64_t length = total(ranges);
  if (spec.even && length % n != 0) {
    throw Error(fmt::format("even: {} does not divide by {}", length, n));
  }
  return select(ranges, positions({0, length}, spec, n, r));
}

}  // namespace ttcheck::assemble
