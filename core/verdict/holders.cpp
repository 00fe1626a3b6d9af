// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/holders.hpp"

#include <algorithm>

namespace ttcheck::verdict {
namespace {

bool holds(const Piece& piece, const Tensor& tensor, std::int64_t index) {
  if (index < 0) return false;
  if (piece.cells.empty()) return true;
  const Box point{unravel(tensor.shape, index), Extents(tensor.shape.size(), 1)};
  return std::ranges::any_of(piece.cells,
                             [&](const Cell& cell) { return contains(cell.box, point); });
}

}  // namespace

const Piece* first_piece(const Tensor& tensor) {
  if (!tensor.pieces.empty()) return &tensor.pieces.front();
  for (const auto& term : tensor.terms) {
    if (!term.empty()) return &term.front();
  }
  return nullptr;
}

const Piece* piece_at(const Tensor& tensor, std::int64_t linear_index) {
  const auto search = [&](const std::vector<Piece>& pieces) -> const Piece* {
    for (const Piece& piece : pieces) {
      if (holds(piece, tensor, linear_index)) return &piece;
    }
    return nullptr;
  };
  if (const Piece* piece = search(tensor.pieces)) return piece;
  for (const auto& term : tensor.terms) {
    if (const Piece* piece = search(term)) return piece;
  }
  return first_piece(tensor);
}

std::optional<Where> place_of(const Tensor& tensor, std::int64_t linear_index) {
  const Piece* piece = piece_at(tensor, linear_index);
  if (piece == nullptr || piece->source == nullptr) return std::nullopt;
  if (linear_index < 0) return piece->where();
  std::int64_t element = linear_index;
  const Box point{unravel(tensor.shape, linear_index), Extents(tensor.shape.size(), 1)};
  for (const Cell& cell : piece->cells) {
    if (!contains(cell.box, point)) continue;
    element = cell.start;
    for (std::size_t d = 0; d < point.lo.size(); ++d) {
      element += (point.lo[d] - cell.box.lo[d]) * cell.strides[d];
    }
    break;
  }
  const auto bit =
      static_cast<std::uint64_t>(element) * static_cast<std::uint64_t>(bits(piece->dtype));
  return piece->source->where(piece->offset + bit / 8);
}

std::vector<std::int32_t> holders(const Tensor& tensor, std::int64_t linear_index) {
  std::vector<std::int32_t> ranks;
  const auto add = [&](const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      if (piece.rank != kNoRank && holds(piece, tensor, linear_index)) ranks.push_back(piece.rank);
    }
  };
  add(tensor.pieces);
  add(tensor.replicas);
  for (const auto& term : tensor.terms) add(term);
  for (const auto& term : tensor.term_replicas) add(term);
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  return ranks;
}

}  // namespace ttcheck::verdict
