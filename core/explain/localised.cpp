// SPDX-License-Identifier: Apache-2.0
#include "core/explain/localised.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/model/axes.hpp"

namespace ttcheck::explain {
namespace {

constexpr double kPenaltyBlock = 6, kPenaltyRanks = 8, kPenaltySlices = 10;
constexpr std::size_t kMostRanges = 32;  ///< that are listed
constexpr std::size_t kMostSaid = 4;     ///< of these, in words
constexpr std::int64_t kLeastBlock = 4;  ///< elements; fewer are no block and no run
constexpr double kFilled = 0.5, kFilledRun = 0.9;
constexpr double kMostShare = 0.9;   ///< of all slices; more of them are no place
constexpr double kMostSpread = 0.5;  ///< of them, in many ranges

/// Ascending numbers as pairs of first and last.
std::vector<std::int64_t> ranges_of(const std::vector<std::int64_t>& numbers) {
  std::vector<std::int64_t> ranges;
  for (const std::int64_t number : numbers) {
    if (!ranges.empty() && ranges.back() + 1 == number) {
      ranges.back() = number;
    } else {
      ranges.insert(ranges.end(), {number, number});
    }
  }
  return ranges;
}

/// "rows 3", "rows 2-7, 9", or "40 of 64 rows (3, 5, 8-9, 12, ..)", where they are many ranges.
std::string words_of(std::string_view what, const std::vector<std::int64_t>& ranges,
                     std::size_t count, std::size_t of) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i + 1 < ranges.size() && words.size() < kMostSaid; i += 2) {
    words.push_back(ranges[i] == ranges[i + 1] ? fmt::format("{}", ranges[i])
                                               : fmt::format("{}-{}", ranges[i], ranges[i + 1]));
  }
  if (ranges.size() <= 2 * kMostSaid) return fmt::format("{} {}", what, fmt::join(words, ", "));
  return fmt::format("{} of {} {} ({}, ..)", count, of, what, fmt::join(words, ", "));
}

Explanation confined(Code code, std::string axis, std::vector<std::int64_t> range, double left2,
                     const Survey& seen, double penalty, std::string words) {
  Explanation found;
  found.code = code;
  found.hypothesis.name = "localised";
  const auto ranges = static_cast<std::int64_t>(range.size() / 2);
  if (axis != "element" && range.size() > 2 * kMostRanges) range.resize(2 * kMostRanges);
  const bool cut = range.size() / 2 < static_cast<std::size_t>(ranges);
  found.hypothesis.parameters = {{"axis", std::move(axis)}, {"range", std::move(range)}};
  if (cut) found.hypothesis.parameters.emplace_back("ranges", ranges);
  found.hypothesis.residual = seen.sum_a2 > 0 ? std::sqrt(std::max(0.0, left2) / seen.sum_a2) : 0;
  found.penalty = penalty;
  found.words = std::move(words);
  return found;
}

/// The part of one dimension that is beyond its limit.
struct Part {
  std::string axis;   ///< as parameters have it
  std::string words;  ///< "rows (dim 0)"
  std::vector<std::int64_t> numbers;
  double share;
  double left2 = 0;
  std::int64_t of;
  std::size_t heads = 0;  ///< where these are what is counted
};

std::optional<Part> part_of(const Slices& slices, const Limit& limit) {
  Part part;
  part.numbers = slices.beyond(limit);
  part.of = static_cast<std::int64_t>(slices.d2.size());
  part.share = static_cast<double>(part.numbers.size()) / static_cast<double>(part.of);
  if (part.numbers.empty() || part.share > kMostShare) return std::nullopt;
  // Most of them, here and there: what is right among them is the exception.
  if (part.share > kMostSpread && ranges_of(part.numbers).size() > 2 * kMostRanges) {
    return std::nullopt;
  }
  for (std::int64_t i = 0; i < part.of; ++i) {
    if (!std::ranges::binary_search(part.numbers, i)) {
      part.left2 += slices.d2[static_cast<std::size_t>(i)];
    }
  }
  return part;
}

/// Slices across a dimension that holds heads become heads.
void as_heads(Part& part, std::size_t dim, const Subject& subject) {
  const Shape& shape = subject.pair.reference->shape;
  const bool last = dim + 1 == shape.size() || shape.size() == 2;
  for (const char* key : {"heads", "kv_heads"}) {
    const std::int64_t heads = subject.numbers->contains(key) ? subject.numbers->at(key) : 0;
    if (heads < 2 || part.of % heads != 0) continue;
    if (!last && (shape.size() < 4 || part.of != heads)) continue;
    const std::int64_t size = part.of / heads;
    std::vector<std::int64_t> hit;
    for (const std::int64_t at : part.numbers) {
      if (hit.empty() || hit.back() != at / size) hit.push_back(at / size);
    }
    if (static_cast<std::int64_t>(hit.size()) == heads) continue;
    if (static_cast<std::int64_t>(part.numbers.size()) * 2 <
        static_cast<std::int64_t>(hit.size()) * size) {
      continue;  // less than half of these heads
    }
    part.words = fmt::format("heads (of {}, {})", heads, part.words);
    part.axis = "heads";
    part.heads = static_cast<std::size_t>(heads);
    part.numbers = std::move(hit);
    return;
  }
}

bool of_attention(const Subject& subject) {
  return subject.result->identity.name.find("att") != std::string::npos;
}

std::string dimension_words(std::size_t dim, std::size_t of) {
  if (of == 2) return dim == 0 ? "rows" : "columns";
  return fmt::format("indices of dimension {}", dim);
}

std::optional<Explanation> by_slices(const Subject& subject, const Survey& seen) {
  std::optional<Part> best;
  const auto offer = [&](std::optional<Part> part, std::string axis, std::string words) {
    if (!part || (best && best->share <= part->share)) return false;
    best = std::move(part);
    best->axis = std::move(axis);
    best->words = std::move(words);
    return true;
  };
  const Limit& limit = subject.result->limit;
  for (std::size_t dim = 0; dim < seen.slices.size(); ++dim) {
    const bool taken = offer(part_of(seen.slices[dim], limit), fmt::format("dim{}", dim),
                             dimension_words(dim, seen.slices.size()));
    if (taken && of_attention(subject)) as_heads(*best, dim, subject);
  }
  // Rows of more than two dimensions only where no single dimension tells as much.
  if (auto rows = part_of(seen.rows, limit); rows && (!best || rows->share < best->share / 2)) {
    offer(std::move(rows), "rows", "rows, all dimensions but the last counted as one,");
  }
  if (!best) return std::nullopt;
  const auto ranges = ranges_of(best->numbers);
  const std::string words = fmt::format(
      "only {} {} off",
      words_of(best->words, ranges, best->numbers.size(),
               best->axis == "heads" ? best->heads : static_cast<std::size_t>(best->of)),
      best->numbers.size() == 1 ? "is" : "are");
  return confined(Code::localised, best->axis, ranges, best->left2, seen,
                  kPenaltySlices / (1 - best->share), words);
}

std::optional<Explanation> by_rank(const Subject& subject, const Survey& seen) {
  const TensorResult& result = *subject.result;
  std::size_t holding = 0;
  double left2 = 0, all2 = 0;
  for (const RankError& one : result.ranks) {
    if (one.metrics.count == 0) continue;
    ++holding;
    all2 += one.metrics.sum_a2;
    if (std::ranges::find(result.wrong_ranks, one.rank) == result.wrong_ranks.end()) {
      left2 += one.metrics.sum_d2;
    }
  }
  if (result.wrong_ranks.empty() || result.wrong_ranks.size() >= holding || all2 <= 0) {
    return std::nullopt;
  }
  left2 *= seen.sum_a2 / all2;
  const AxisCoordinates axes = axes_of(result.wrong_ranks, *subject.mesh);
  std::vector<std::int64_t> numbers(result.wrong_ranks.begin(), result.wrong_ranks.end());
  std::string axis = "rank";
  if (axes.size() == 1) {
    axis = axes[0].first;
    numbers = axes[0].second;
  }
  const auto ranges = ranges_of(numbers);
  const double share =
      static_cast<double>(result.wrong_ranks.size()) / static_cast<double>(holding);
  return confined(
      Code::localised, axis, ranges, left2, seen, kPenaltyRanks / (1 - share) * 0.5,
      fmt::format("only what {} holds is off", words_of(axis, ranges, numbers.size(), holding)));
}

/// All wrong elements in one block of the last two dimensions, in one run, or all alone.
std::optional<Explanation> by_elements(const Subject& subject, const Survey& seen) {
  const Shape& shape = subject.pair.reference->shape;
  const double left2 = seen.right_d2;
  if (seen.wrong == 1 && subject.metrics().count > 1) {
    const Extents at = unravel(shape, seen.first);
    return confined(Code::localised, "element", {at.begin(), at.end()}, left2, seen, kPenaltyBlock,
                    fmt::format("only element [{}] is off", fmt::join(at, ", ")));
  }
  if (seen.wrong < kLeastBlock) return std::nullopt;
  const auto wrong = static_cast<double>(seen.wrong);
  const std::int64_t row = shape.back();
  const bool whole_rows = seen.first % row == 0 && (seen.last + 1) % row == 0;
  const std::int64_t span = seen.last - seen.first + 1;
  const bool some = 2 * span <= subject.metrics().count;
  const bool one_row = seen.first / row == seen.last / row;
  if (wrong >= kFilledRun * static_cast<double>(span) && !whole_rows && some) {
    const bool zeros = seen.wrong_zeros == seen.wrong;
    return confined(
        Code::chunk, "flat", {seen.first, seen.last}, left2, seen, kPenaltyBlock,
        fmt::format("only the run of elements {} to {}{} is off{}", seen.first, seen.last,
                    one_row ? " of one row" : "", zeros ? ", and it is all zeros" : ""));
  }
  double volume = 1;
  std::vector<std::int64_t> range;
  bool inner = shape.size() >= 2;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    const std::int64_t extent = seen.hi[dim] - seen.lo[dim] + 1;
    volume *= static_cast<double>(extent);
    range.insert(range.end(), {seen.lo[dim], seen.hi[dim]});
    const bool last_two = dim + 2 >= shape.size();
    inner = inner && (last_two ? extent >= 2 && 2 * extent <= shape[dim] : extent == 1);
  }
  if (!inner || wrong < kFilled * volume) return std::nullopt;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < range.size(); i += 2) {
    words.push_back(fmt::format("{}-{}", range[i], range[i + 1]));
  }
  return confined(Code::tile, "block", range, left2, seen, kPenaltyBlock,
                  fmt::format("only the block [{}] is off", fmt::join(words, ", ")));
}

/// True where the wrong elements make up what the wrong ranks hold: a run or a block of them is
/// then only the form that the ranks' part has.
bool fill_ranks(const Subject& subject, const Survey& seen) {
  const TensorResult& result = *subject.result;
  double held = 0, wrong = 0;
  for (const RankError& one : result.ranks) {
    const auto count = static_cast<double>(one.metrics.count);
    held += count;
    if (std::ranges::find(result.wrong_ranks, one.rank) != result.wrong_ranks.end()) wrong += count;
  }
  const auto count = static_cast<double>(subject.metrics().count);
  const double copies = std::max(1.0, held / count);  // of each element, on average
  return static_cast<double>(seen.wrong) >= kFilledRun * wrong / copies;
}

}  // namespace

std::vector<Explanation> localised(const Subject& subject, const Survey& seen) {
  std::vector<Explanation> found;
  const auto add = [&](std::optional<Explanation> one) {
    if (one) found.push_back(std::move(*one));
  };
  std::optional<Explanation> ranks = by_rank(subject, seen);
  if (!ranks || !fill_ranks(subject, seen)) add(by_elements(subject, seen));
  add(std::move(ranks));
  add(by_slices(subject, seen));
  return found;
}

}  // namespace ttcheck::explain
