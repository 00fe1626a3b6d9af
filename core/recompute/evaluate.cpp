// SPDX-License-Identifier: Apache-2.0
#include "core/recompute/evaluate.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/checked.hpp"
#include "core/base/parallel.hpp"
#include "core/model/gather.hpp"

namespace ttcheck::recompute {
namespace {

constexpr double kRangeCost = 2e7;  // multiplications of one range, unless a granule has more
constexpr std::size_t kBatch = 64;  // ranges whose results are held at once

std::int64_t range_size(const Formula& formula) {
  const double fit = kRangeCost / formula.cost;
  const auto most =
      static_cast<std::int64_t>(std::min(fit, static_cast<double>(formula.preferred)));
  return std::max<std::int64_t>(1, most / formula.granule) * formula.granule;
}

/// Compares one range, whole or by parts.
void compare_range(const Formula& formula, const Operand& dumped, std::int64_t begin,
                   std::int64_t size, std::int64_t without, std::span<const Part> parts,
                   std::span<Mismatch> found) {
  std::vector<double> expected(static_cast<std::size_t>(size)), values(expected.size());
  formula.fill(begin, expected);
  dumped.read(begin, values);
  if (without >= begin && without < begin + size) {
    const auto at = static_cast<std::size_t>(without - begin);
    values[at] = expected[at];
  }
  const auto add = [&](Mismatch& to, std::int64_t from, std::int64_t end) {
    const auto at = static_cast<std::size_t>(from - begin);
    const auto count = static_cast<std::size_t>(end - from);
    to.add(from, std::span(expected).subspan(at, count), std::span(values).subspan(at, count),
           dumped.dtype());
  };
  if (parts.empty()) return add(found.front(), begin, begin + size);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (const LinearRange& range : ranges_in(parts[p], dumped.shape(), begin, begin + size)) {
      add(found[p], range.begin, range.end);
    }
  }
}

}  // namespace

std::optional<TargetRanges> ranges_of(const Formula& formula, std::int64_t count, double budget,
                                      std::int64_t worst, std::int64_t most) {
  TargetRanges ranges;
  ranges.size = range_size(formula);
  if (count < 1 || ranges.size > kMostHeld) return std::nullopt;
  const std::int64_t total = ceil_div(count, ranges.size);
  const double each = formula.cost * static_cast<double>(std::min(ranges.size, count));
  const double affordable = budget / each;
  if (affordable < 1) return std::nullopt;
  std::int64_t wanted = std::min(total, most);
  if (affordable < static_cast<double>(wanted)) wanted = static_cast<std::int64_t>(affordable);
  for (std::int64_t n = 0; n < wanted; ++n) {
    const double at = static_cast<double>(n) / static_cast<double>(wanted);
    ranges.numbers.push_back(
        wanted == total ? n : static_cast<std::int64_t>(at * static_cast<double>(total)));
  }
  ranges.all = wanted == total;
  if (worst > 0 && worst < count) {  // the first element's range is always there
    const std::int64_t own = worst / ranges.size;
    *std::ranges::min_element(ranges.numbers, {},
                              [&](std::int64_t n) { return std::abs(n - own); }) = own;
  }
  return ranges;
}

std::vector<Mismatch> evaluate(const Formula& formula, const Operand& dumped,
                               const TargetRanges& ranges, std::span<const Part> parts,
                               const std::function<bool()>& stop) {
  const std::size_t columns = std::max<std::size_t>(parts.size(), 1);
  const Mismatch none(dumped.width());
  std::vector<Mismatch> sums(columns, none);
  for (std::size_t first = 0; first < ranges.numbers.size(); first += kBatch) {
    if (stop && stop()) throw Error("stopped before its end");
    const std::size_t size = std::min(kBatch, ranges.numbers.size() - first);
    std::vector<Mismatch> found(size * columns, none);
    parallel_for(size, [&](std::size_t n) {
      const std::int64_t begin = ranges.numbers[first + n] * ranges.size;
      const std::int64_t count = std::min(ranges.size, dumped.count() - begin);
      compare_range(formula, dumped, begin, count, ranges.without, parts,
                    std::span(found).subspan(n * columns, columns));
    });
    for (std::size_t n = 0; n < found.size(); ++n) sums[n % columns].append(found[n]);
  }
  return sums;
}

}  // namespace ttcheck::recompute
