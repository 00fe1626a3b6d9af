// SPDX-License-Identifier: Apache-2.0
#include "core/explain/rank_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/compare/compare.hpp"
#include "core/explain/reduction.hpp"

namespace ttcheck::explain {
namespace {

/// What one rank holds, as a tensor of its own; nothing where its piece is no single box.
std::optional<Tensor> own_part(const Tensor& tensor, const Piece& piece) {
  if (piece.cells.size() != 1) return std::nullopt;
  Tensor part;
  part.dtype = tensor.dtype;
  part.shape = piece.cells.front().box.size;
  part.pieces = {piece};
  part.pieces.front().cells.front().box = whole(part.shape);
  return part;
}

const Piece* piece_of(const Tensor& tensor, std::int32_t rank) {
  const auto found = std::ranges::find(tensor.pieces, rank, &Piece::rank);
  return found == tensor.pieces.end() ? nullptr : &*found;
}

bool equal(const Tensor& a, const Tensor& b) {
  const compare::Pair pair{&a, &b};
  const auto compared = compare::compare({&pair, 1}, {});
  return !compared[0].error && compared[0].metrics.unequal_values == 0;
}

/// The candidate's parts of the ranks whose reference is `first`, in rank order.
std::vector<Tensor> addends(const Subject& subject, const Tensor& first) {
  std::vector<Tensor> found;
  for (const Piece& piece : subject.pair.reference->pieces) {
    const auto there = own_part(*subject.pair.reference, piece);
    const Piece* here = piece_of(*subject.pair.candidate, piece.rank);
    if (!there || here == nullptr || there->shape != first.shape || !equal(*there, first)) continue;
    auto part = own_part(*subject.pair.candidate, *here);
    if (part && part->shape == first.shape) found.push_back(std::move(*part));
  }
  return found;
}

}  // namespace

std::optional<Explanation> rank_sum(const Subject& subject) {
  const Tensor& reference = *subject.pair.reference;
  const Tensor& candidate = *subject.pair.candidate;
  if (!reference.by_rank || !candidate.by_rank || subject.pair.mapped()) return std::nullopt;
  if (is_exact(candidate.dtype) || reference.pieces.empty()) return std::nullopt;
  const auto first = own_part(reference, reference.pieces.front());
  if (!first) return std::nullopt;
  const std::vector<Tensor> parts = addends(subject, *first);
  const auto same = [&](const Tensor& part) { return equal(part, parts.front()); };
  if (std::ranges::all_of(parts, same)) return std::nullopt;  // as one alone is, or none
  Tensor sum;
  sum.dtype = candidate.dtype;
  sum.shape = first->shape;
  for (const Tensor& part : parts) sum.terms.push_back(part.pieces);
  compare::Pair pair;
  pair.reference = &*first;
  pair.candidate = &sum;
  return best_reduction(pair, "rank", subject.allowed());
}

}  // namespace ttcheck::explain
