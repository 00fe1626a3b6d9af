// SPDX-License-Identifier: Apache-2.0
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

/// The tensor as one rank has it: its own pieces alone; with addends, all of them, the rank's copy
/// of one in place of the first copy.
struct Holding {
  Tensor value;
  std::vector<Box> boxes;
};

class Holdings {
 public:
  explicit Holdings(const Tensor& tensor) : tensor_(tensor) {}

  std::map<std::int32_t, Holding> take() {
    for (const auto* pieces : {&tensor_.pieces, &tensor_.replicas}) {
      for (const Piece& piece : *pieces) {
        if (Holding* holding = add(piece)) holding->value.pieces.push_back(piece);
      }
    }
    for (const auto& term : tensor_.terms) {
      for (const Piece& piece : term) add(piece);
    }
    for (std::size_t t = 0; t < tensor_.term_replicas.size(); ++t) {
      for (const Piece& piece : tensor_.term_replicas[t]) {
        // What is gathered later lies over what was gathered before.
        if (Holding* holding = add(piece)) holding->value.terms[t].push_back(piece);
      }
    }
    return std::move(ranks_);
  }

 private:
  Holding* add(const Piece& piece) {
    if (piece.rank == kNoRank) return nullptr;
    const auto [at, fresh] = ranks_.try_emplace(piece.rank);
    Holding& holding = at->second;
    if (fresh) {
      holding.value.dtype = tensor_.dtype;
      holding.value.shape = tensor_.shape;
      holding.value.reduce = tensor_.reduce;
      holding.value.mean_of = tensor_.mean_of;
      holding.value.terms = tensor_.terms;
    }
    if (piece.cells.empty()) holding.boxes.push_back(whole(tensor_.shape));
    for (const Cell& cell : piece.cells) holding.boxes.push_back(cell.box);
    return &holding;
  }

  const Tensor& tensor_;
  std::map<std::int32_t, Holding> ranks_;
};

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

std::vector<RankError> by_rank(const Pair& pair, const Stop& stop) {
  const Tensor& candidate = *pair.candidate;
  const std::map<std::int32_t, Holding> ranks = Holdings(candidate).take();
  if (ranks.empty()) return {};
  const Rule rule = rule_of(pair, false);
  const std::int64_t count = element_count(candidate.shape);
  const std::int64_t range = range_elements(rule.a, rule.b);

  std::vector<RankError> errors;
  for (const auto& [rank, holding] : ranks) errors.push_back({rank, {}});

  const auto work = [&](std::size_t task) {
    if (stop && stop()) throw Stopped();
    std::vector<Metrics> parts(ranks.size());
    const std::int64_t begin = static_cast<std::int64_t>(task) * range;
    const std::int64_t n = std::min(range, count - begin);
    Buffers& buffers = Buffers::mine();
    const auto kept = buffers.replica(*pair.reference, begin, n);
    fetch(*pair.reference, pair.reference_map, begin, n, kept);
    std::size_t i = 0;
    for (const auto& [rank, holding] : ranks) {
      const std::size_t slot = i++;
      const auto covered = ranges_in(holding.boxes, candidate.shape, begin, begin + n);
      if (covered.empty()) continue;
      const auto a = buffers.a(*pair.reference, begin, n);
      const auto b = buffers.b(candidate, begin, n);
      std::ranges::copy(kept, a.begin());
      fetch(holding.value, pair.candidate_map, begin, n, b);
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
