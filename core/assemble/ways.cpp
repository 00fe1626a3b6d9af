// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/ways.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "core/base/require.hpp"
#include "core/base/words.hpp"

namespace ttcheck::assemble {
namespace {

constexpr std::int64_t kMostQueries = 16;  ///< heads that share a key and a value
constexpr std::size_t kMostAxes = 4;       ///< whose subsets are tried

Box box_of(const Piece& piece, const Shape& shape) {
  return piece.cells.empty() ? whole(shape) : piece.cells.front().box;
}

/// All that ranks hold, in rank order; empty where one is not on the mesh, if there is any.
std::vector<const Piece*> pieces_of(const Tensor& tensor, const Mesh& mesh) {
  std::vector<const Piece*> all;
  for (const auto* pieces : {&tensor.pieces, &tensor.replicas}) {
    for (const Piece& piece : *pieces) {
      if (piece.rank < 0) return {};
      if (!mesh.axes.empty() && piece.rank >= mesh.world_size()) return {};
      all.push_back(&piece);
    }
  }
  std::ranges::stable_sort(all, {}, &Piece::rank);
  return all;
}

/// The one dimension in which `shape` is longer than `part`.
std::optional<std::size_t> longer_in(const Shape& part, const Shape& shape) {
  std::optional<std::size_t> found;
  if (part.size() != shape.size()) return found;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (part[d] == shape[d]) continue;
    if (found || part[d] > shape[d]) return std::nullopt;
    found = d;
  }
  return found;
}

using Group = std::vector<std::int64_t>;

Group coordinates_along(const Piece& piece, const Mesh& mesh,
                        std::span<const std::string_view> axes) {
  if (axes.empty()) return {piece.rank};
  const Coordinates at = mesh.coordinates(piece.rank);
  Group group;
  for (const std::string_view axis : axes) group.push_back(coordinate(at, axis));
  return group;
}

/// One addend for each group of coordinates along `axes`, of none for each rank; nothing where an
/// addend lacks a part.
std::optional<Tensor> sum_over(const Tensor& tensor, const std::vector<const Piece*>& all,
                               const Mesh& mesh, std::span<const std::string_view> axes) {
  Tensor sum = tensor;
  sum.reduce = Reduce::sum;
  sum.pieces.clear();
  sum.replicas.clear();
  std::map<Group, std::size_t> terms;
  for (const Piece* piece : all) {
    const Group group = coordinates_along(*piece, mesh, axes);
    const std::size_t term = terms.try_emplace(group, terms.size()).first->second;
    sum.terms.resize(terms.size());
    sum.term_replicas.resize(terms.size());
    const Box box = box_of(*piece, tensor.shape);
    const bool had = std::ranges::any_of(
        sum.terms[term], [&](const Piece& one) { return box_of(one, tensor.shape) == box; });
    (had ? sum.term_replicas : sum.terms)[term].push_back(*piece);
  }
  const bool full = std::ranges::all_of(
      sum.terms, [&](const auto& term) { return term.size() == tensor.pieces.size(); });
  if (sum.terms.size() < 2 || !full) return std::nullopt;
  return sum;
}

/// How long the parts of a rank's array of `length` may be.
std::vector<Extents> parts_of(std::string_view name, std::int64_t length) {
  std::vector<Extents> found;
  if (has_any(name, {"gate_up", "up_gate", "gateup", "fc1", "w13", "glu", "h_to_4h"}) &&
      length % 2 == 0) {
    found.push_back({length / 2, length / 2});
  }
  if (!has_any(name, {"qkv", "c_attn", "query_key_value", "W_pack", "in_proj"})) return found;
  for (std::int64_t queries = 1; queries <= kMostQueries; ++queries) {
    if (length % (queries + 2) != 0) continue;
    const std::int64_t keys = length / (queries + 2);
    found.push_back({length - 2 * keys, keys, keys});
  }
  return found;
}

/// Cuts what a rank holds, the range at `box.lo[dim]`, into one range of each part.
void cut_piece(Piece& piece, std::size_t dim, const Extents& parts, std::int64_t ranks) {
  const Cell cell = piece.cells.front();
  const std::int64_t at = cell.box.lo[dim] / cell.box.size[dim];
  piece.cells.clear();
  std::int64_t before = 0;  // within the array
  for (const std::int64_t length : parts) {
    Cell& part = piece.cells.emplace_back(cell);
    part.box.lo[dim] = before * ranks + at * length;
    part.box.size[dim] = length;
    part.start += before * cell.strides[dim];
    before += length;
  }
}

}  // namespace

std::vector<std::string_view> axes_of_cut(const Tensor& tensor, const Shape& whole,
                                          const Mesh& mesh) {
  std::vector<std::string_view> axes;
  const auto dim = longer_in(tensor.shape, whole);
  if (!tensor.undeclared || tensor.reduce != Reduce::none || tensor.pieces.size() != 1 ||
      tensor.pieces.front().cells.size() > 1 || tensor.replicas.empty() || !dim ||
      tensor.shape[*dim] == 0 || whole[*dim] % tensor.shape[*dim] != 0 ||
      pieces_of(tensor, mesh).empty()) {
    return axes;
  }
  for (const Axis& axis : mesh.axes) {
    if (axis.size > 1 && axis.size == whole[*dim] / tensor.shape[*dim]) axes.push_back(axis.name);
  }
  return axes;
}

std::optional<Tensor> cut_along(const Tensor& tensor, const Shape& whole, const Mesh& mesh,
                                std::string_view axis) {
  if constexpr (kRequires) {
    const auto axes = axes_of_cut(tensor, whole, mesh);
    require(std::ranges::find(axes, axis) != axes.end(), "an axis that fits the shapes");
  }
  const std::size_t dim = longer_in(tensor.shape, whole).value();
  const std::int64_t length = tensor.shape[dim];
  Tensor cut = tensor;
  cut.shape = whole;
  cut.by_shape = true;
  cut.pieces.clear();
  cut.replicas.clear();
  std::vector<char> had(static_cast<std::size_t>(whole[dim] / length));
  for (const Piece* piece : pieces_of(tensor, mesh)) {
    const std::int64_t at = coordinate(mesh.coordinates(piece->rank), axis);
    const auto place = static_cast<std::size_t>(at);
    if (at < 0 || place >= had.size()) return std::nullopt;
    Piece one = *piece;
    if (one.cells.size() > 1) return std::nullopt;
    if (one.cells.empty()) {
      one.cells.push_back({ttcheck::whole(tensor.shape), 0, row_major_strides(tensor.shape)});
    }
    one.cells.front().box.lo[dim] += at * length;
    (std::exchange(had[place], 1) != 0 ? cut.replicas : cut.pieces).push_back(std::move(one));
  }
  if (std::ranges::find(had, 0) != had.end()) return std::nullopt;
  return cut;
}

std::vector<Tensor> as_addends(const Tensor& tensor, const Mesh& mesh) {
  std::vector<Tensor> sums;
  if (!tensor.undeclared || !tensor.stored || tensor.replicas.empty() ||
      tensor.reduce != Reduce::none || is_exact(tensor.dtype)) {
    return sums;
  }
  const std::vector<const Piece*> all = pieces_of(tensor, mesh);
  std::vector<std::string_view> axes;
  for (const Axis& axis : mesh.axes) {
    if (axis.size > 1) axes.push_back(axis.name);
  }
  if (all.empty() || axes.size() > kMostAxes) return sums;
  if (axes.empty()) {
    if (auto sum = sum_over(tensor, all, mesh, {})) sums.push_back(std::move(*sum));
  }
  const unsigned subsets = 1U << axes.size();
  for (std::size_t size = 1; size <= axes.size(); ++size) {
    for (unsigned subset = 1; subset < subsets; ++subset) {
      if (static_cast<std::size_t>(std::popcount(subset)) != size) continue;
      std::vector<std::string_view> over;
      for (std::size_t i = 0; i < axes.size(); ++i) {
        if ((subset >> i & 1U) != 0) over.push_back(axes[i]);
      }
      if (auto sum = sum_over(tensor, all, mesh, over)) sums.push_back(std::move(*sum));
    }
  }
  return sums;
}

std::vector<Tensor> in_parts(const Tensor& tensor, PartLengths& known) {
  std::vector<Tensor> found;
  if (!tensor.by_shape || !tensor.stored || tensor.pieces.empty() ||
      tensor.pieces.front().cells.size() != 1) {
    return found;
  }
  const Box first = tensor.pieces.front().cells.front().box;
  const auto dim = longer_in(first.size, tensor.shape);
  if (!dim || first.size[*dim] == 0 || tensor.shape[*dim] % first.size[*dim] != 0) return found;
  const auto alike = [&](const Piece& piece) {
    return piece.cells.size() == 1 && piece.cells.front().box.size == first.size &&
           piece.cells.front().box.lo[*dim] % first.size[*dim] == 0;
  };
  if (!std::ranges::all_of(tensor.pieces, alike) || !std::ranges::all_of(tensor.replicas, alike)) {
    return found;
  }
  const std::int64_t ranks = tensor.shape[*dim] / first.size[*dim];
  std::vector<Extents>& fused = known[{tensor.shape[*dim], first.size[*dim]}];
  for (Extents& parts : parts_of(tensor.identity.name, first.size[*dim])) {
    if (std::ranges::find(fused, parts) == fused.end()) fused.push_back(std::move(parts));
  }
  for (const Extents& parts : fused) {
    Tensor& cut = found.emplace_back(tensor);
    for (auto* pieces : {&cut.pieces, &cut.replicas}) {
      for (Piece& piece : *pieces) cut_piece(piece, *dim, parts, ranks);
    }
  }
  return found;
}

}  // namespace ttcheck::assemble
