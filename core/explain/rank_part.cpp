// SPDX-License-Identifier: Apache-2.0
#include "core/explain/rank_part.hpp"

#include <algorithm>
#include <utility>

namespace ttcheck::explain {
namespace {

constexpr std::size_t kMostBoxes = 4096;

std::vector<const Piece*> all_pieces(const Tensor& tensor) {
  std::vector<const Piece*> all;
  for (const auto* pieces : {&tensor.pieces, &tensor.replicas}) {
    for (const Piece& piece : *pieces) all.push_back(&piece);
  }
  std::ranges::stable_sort(all, {}, [](const Piece* piece) { return piece->rank; });
  return all;
}

std::vector<Box> boxes_of(const Piece& piece, const Shape& shape) {
  if (piece.cells.empty()) return {whole(shape)};
  std::vector<Box> boxes;
  for (const Cell& cell : piece.cells) boxes.push_back(cell.box);
  return boxes;
}

}  // namespace

std::optional<Tensor> part_of_rank(const Tensor& tensor, std::int32_t rank) {
  if (tensor.reduce != Reduce::none) return std::nullopt;
  Tensor part;
  part.identity = tensor.identity;
  part.kind = tensor.kind;
  part.dtype = tensor.dtype;
  part.shape = tensor.shape;
  part.holes = {whole(tensor.shape)};
  for (const Piece* piece : all_pieces(tensor)) {
    if (piece->rank != rank) continue;
    part.pieces.push_back(*piece);
    for (const Box& box : boxes_of(*piece, tensor.shape)) {
      std::vector<Box> left;
      for (const Box& hole : part.holes) {
        for (Box& one : subtract(hole, box)) left.push_back(std::move(one));
      }
      if (left.size() > kMostBoxes) return std::nullopt;
      part.holes = std::move(left);
    }
  }
  if (part.pieces.empty()) return std::nullopt;
  return part;
}

std::vector<std::vector<Piece>> copies_along(const Tensor& tensor, const Mesh& mesh,
                                             std::string_view axis) {
  const std::int64_t size = mesh.size_of(axis);
  if (size < 2 || tensor.reduce != Reduce::none || tensor.replicas.empty()) return {};
  std::vector<std::vector<Piece>> copies(static_cast<std::size_t>(size));
  const std::vector<const Piece*> all = all_pieces(tensor);
  for (const Piece* piece : all) {
    if (piece->rank < 0 || piece->rank >= mesh.world_size()) return {};
    const std::int64_t at = coordinate(mesh.coordinates(piece->rank), axis);
    if (at < 0 || at >= size) return {};
    std::vector<Piece>& held = copies[static_cast<std::size_t>(at)];
    const bool had = std::ranges::any_of(held, [&](const Piece& other) {
      return boxes_of(other, tensor.shape) == boxes_of(*piece, tensor.shape);
    });
    if (!had) held.push_back(*piece);
  }
  for (const std::vector<Piece>& held : copies) {
    if (held.size() != tensor.pieces.size()) return {};
    for (const Piece& wanted : tensor.pieces) {
      const bool has = std::ranges::any_of(held, [&](const Piece& one) {
        return boxes_of(one, tensor.shape) == boxes_of(wanted, tensor.shape);
      });
      if (!has) return {};
    }
  }
  return copies;
}

}  // namespace ttcheck::explain
