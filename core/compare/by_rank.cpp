#include <algorithm>
#include <exception>
#include <map>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"
#include "core/compare/compare.hpp"
#include "core/compare/ordered.hpp"
#include "core/compare/ranges.hpp"

namespace ttcheck::compare {
namespace {

/// All that one rank holds of a tensor.
struct Holding {
  std::vector<Piece> pieces;
  std::vector<Box> boxes;
};

std::map<std::int32_t, Holding> holdings_of(const Tensor& tensor) {
  std::map<std::int32_t, Holding> ranks;
  const auto add = [&](const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      if (piece.rank == kNoRank) continue;
      Holding& holding = ranks[piece.rank];
      holding.pieces.push_back(piece);
      if (piece.cells.empty()) holding.boxes.push_back(whole(tensor.shape));
      for (const Cell& cell : piece.cells) holding.boxes.push_back(cell.box);
    }
  };
  add(tensor.pieces);
  add(tensor.replicas);
  for (const auto& term : tensor.terms) add(term);
  return ranks;
}

/// [begin, end) less `covered`, with `holes` added to it: what takes no part.
std::vector<LinearRange> left_out(std::int64_t begin, std::int64_t end,
                                  std::span<const LinearRange> covered,
                                  std::span<const LinearRange> holes) {
  std::vector<LinearRange> out(holes.begin(), holes.end());
  std::int64_t at = begin;
  for (const LinearRange& range : covered) {
    if (range.begin > at) out.push_back({at, range.begin});
    at = range.end;
  }
  if (at < end) out.push_back({at, end});
  std::ranges::sort(out, {}, &LinearRange::begin);
  std::vector<LinearRange> joined;
  for (const LinearRange& range : out) {
    if (!joined.empty() && range.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, range.end);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

}  // namespace

std::vector<RankError> by_rank(const Pair& pair) {
  const Tensor& candidate = *pair.candidate;
  const std::map<std::int32_t, Holding> ranks = holdings_of(candidate);
  if (ranks.empty()) return {};
  Rule rule = rule_for(pair.reference->dtype, candidate.dtype, false);
  rule.rtol = pair.rtol;
  rule.atol = pair.atol;
  const std::int64_t count = element_count(candidate.shape);
  const std::int64_t range = range_elements(rule.a, rule.b);
  BufferPool pool;

  std::vector<RankError> errors;
  for (const auto& [rank, holding] : ranks) errors.push_back({rank, {}});

  const auto work = [&](std::size_t task) {
    std::vector<Metrics> parts(ranks.size());
    const std::int64_t begin = static_cast<std::int64_t>(task) * range;
    const std::int64_t n = std::min(range, count - begin);
    Buffers& buffers = pool.mine();
    const auto kept = buffers.replica(rule.a, n);
    gather(*pair.reference, begin, n, kept);
    std::size_t i = 0;
    for (const auto& [rank, holding] : ranks) {
      const std::size_t slot = i++;
      const auto covered = ranges_in(holding.boxes, candidate.shape, begin, begin + n);
      if (covered.empty()) continue;
      const auto a = buffers.a(rule.a, n);
      const auto b = buffers.b(rule.b, n);
      std::ranges::copy(kept, a.begin());
      gather(holding.pieces, candidate.dtype, candidate.shape, begin, n, b);
      const auto holes = ranges_in(pair.reference->holes, candidate.shape, begin, begin + n);
      parts[slot] = measure(rule, begin, n, a, b, left_out(begin, begin + n, covered, holes),
                            buffers.scratch());
    }
    return parts;
  };
  const auto fold = [&](std::size_t, std::vector<Metrics>&& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) append(errors[i].metrics, parts[i]);
  };
  fold_in_order(static_cast<std::size_t>(ceil_div(count, range)), work, fold);
  return errors;
}

}  // namespace ttcheck::compare
