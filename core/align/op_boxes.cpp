// SPDX-License-Identifier: Apache-2.0
// Sources of the layouts: Megatron-LM megatron/core/transformer/attention.py (mixed_qkv:
// [ng, (np/ng + 2) * hn]) and megatron/legacy/checkpointing.py (fix_query_key_value_ordering:
// versions 0 and 1); transformers models/llama/convert_llama_weights_to_hf.py (permute) and
// pytorch_utils.py (Conv1D).

#include "core/align/op_boxes.hpp"

#include <array>
#include <utility>

#include "core/base/checked.hpp"

namespace ttcheck::align {
namespace {

/// Adds a loop over each axis from `first` on, at the same place on both sides.
void add_other_axes(const Shape& shape, std::size_t first, Link& link) {
  for (std::size_t d = first; d < shape.size(); ++d) link.loops.push_back({shape[d], d, d, 1, 1});
}

Link link_at(std::size_t part, std::size_t rank) {
  return {part, Extents(rank, 0), Extents(rank, 0), {}};
}

/// `lengths` of the parts along `dim`, one behind the other.
BoxMap concatenated(const Shape& whole, std::size_t dim, std::span<const std::int64_t> lengths) {
  BoxMap map{whole, {}, {}};
  std::int64_t at = 0;
  for (std::size_t part = 0; part < lengths.size(); ++part) {
    Shape& shape = map.parts.emplace_back(whole);
    shape[dim] = lengths[part];
    Link& link = map.links.emplace_back(link_at(part, whole.size()));
    add_other_axes(shape, 0, link);
    link.whole_start[dim] = at;
    at += lengths[part];
  }
  return map;
}

/// The axis of that number, if there is one.
std::optional<std::size_t> axis_in(const Shape& shape, std::int64_t dim) {
  if (dim < 0 || dim >= std::ssize(shape)) return std::nullopt;
  return static_cast<std::size_t>(dim);
}

}  // namespace

BoxMap same_boxes(const Shape& whole) {
  BoxMap map{whole, {whole}, {link_at(0, whole.size())}};
  add_other_axes(whole, 0, map.links[0]);
  return map;
}

std::optional<BoxMap> concat_boxes(const Shape& whole, std::int64_t dim,
                                   std::span<const std::int64_t> lengths) {
  const auto axis = axis_in(whole, dim);
  if (!axis) return std::nullopt;
  std::int64_t total = 0;
  for (const std::int64_t length : lengths) {
    if (length < 0) return std::nullopt;
    total = checked_add(total, length);
  }
  if (total != whole[*axis]) return std::nullopt;
  return concatenated(whole, *axis, lengths);
}

std::optional<BoxMap> concat_boxes(const Shape& whole, std::int64_t dim, std::size_t parts,
                                   std::span<const Shape> known) {
  const auto axis = axis_in(whole, dim);
  if (!axis || parts == 0) return std::nullopt;
  if (known.empty()) {
    const std::int64_t each = whole[*axis] / static_cast<std::int64_t>(parts);
    return concat_boxes(whole, dim, std::vector<std::int64_t>(parts, each));
  }
  std::vector<std::int64_t> lengths;
  for (const Shape& part : known) {
    if (*axis >= part.size()) return std::nullopt;
    lengths.push_back(part[*axis]);
  }
  if (lengths.size() != parts) return std::nullopt;
  return concat_boxes(whole, dim, lengths);
}

std::optional<BoxMap> slice_boxes(const Shape& part, std::int64_t dim, std::int64_t begin,
                                  std::int64_t end) {
  const auto axis = axis_in(part, dim);
  if (!axis || begin < 0 || begin > end || end > part[*axis]) return std::nullopt;
  BoxMap map{part, {part}, {link_at(0, part.size())}};
  map.whole[*axis] = end - begin;
  add_other_axes(map.whole, 0, map.links[0]);
  map.links[0].part_start[*axis] = begin;
  Box kept = whole(part);
  kept.lo[*axis] = begin;
  kept.size[*axis] = end - begin;
  map.outside = subtract(whole(part), kept);
  return map;
}

std::optional<BoxMap> stack_boxes(const Shape& whole, std::int64_t dim, std::size_t parts) {
  const auto axis = axis_in(whole, dim);
  if (!axis || whole[*axis] != static_cast<std::int64_t>(parts)) return std::nullopt;
  Shape shape = whole;
  shape.erase(shape.begin() + dim);
  BoxMap map{whole, std::vector<Shape>(parts, shape), {}};
  for (std::size_t part = 0; part < parts; ++part) {
    Link& link = map.links.emplace_back();
    link.part = part;
    link.part_start.assign(shape.size(), 0);
    link.whole_start.assign(whole.size(), 0);
    link.whole_start[*axis] = static_cast<std::int64_t>(part);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      link.loops.push_back({shape[d], d, d < *axis ? d : d + 1, 1, 1});
    }
  }
  return map;
}

std::optional<BoxMap> stack_glu_boxes(const Shape& whole, std::size_t parts, bool turned,
                                      bool pairs) {
  if (whole.size() < 2 || whole.size() > 3 || parts % 2 != 0) return std::nullopt;
  const std::size_t wide = turned ? whole.size() - 1 : 1;  // the axis of gate and up
  const std::int64_t rows = whole[wide] / 2;
  if (whole[0] != static_cast<std::int64_t>(parts / 2) || whole[wide] % 2 != 0) return std::nullopt;
  Shape shape = {rows};
  if (whole.size() == 3) shape.push_back(whole[3 - wide]);
  BoxMap map{whole, std::vector<Shape>(parts, shape), {}};
  for (std::size_t part = 0; part < parts; ++part) {
    const auto half = static_cast<std::int64_t>(part % 2);
    Link& link = map.links.emplace_back();
    link.part = part;
    link.part_start.assign(shape.size(), 0);
    link.whole_start.assign(whole.size(), 0);
    link.whole_start[0] = static_cast<std::int64_t>(part / 2);
    link.whole_start[wide] = pairs ? half : half * rows;
    link.loops.push_back({rows, 0, wide, 1, pairs ? 2 : 1});
    if (whole.size() == 3) link.loops.push_back({shape[1], 1, 3 - wide, 1, 1});
  }
  return map;
}

std::optional<BoxMap> qkv_interleave_boxes(const Shape& whole, const HeadCounts& heads) {
  const std::int64_t query = checked_mul(heads.query / heads.group, heads.rows);
  const std::int64_t group = checked_add(query, checked_mul(std::int64_t{2}, heads.rows));
  if (whole.empty() || whole[0] != checked_mul(heads.group, group)) return std::nullopt;
  BoxMap map{whole, {}, {}};
  std::int64_t at = 0;
  for (std::size_t part = 0; part < 3; ++part) {
    const std::int64_t rows = part == 0 ? query : heads.rows;
    Shape& shape = map.parts.emplace_back(whole);
    shape[0] = rows * heads.group;
    Link& link = map.links.emplace_back(link_at(part, whole.size()));
    link.whole_start[0] = at;
    link.loops.push_back({rows, 0, 0, 1, 1});
    link.loops.push_back({heads.group, 0, 0, rows, group});
    add_other_axes(whole, 1, link);
    at += rows;
  }
  return map;
}

std::optional<BoxMap> qkv_boxes(const Shape& whole, std::int64_t dim, const HeadCounts& heads) {
  const std::int64_t query = checked_mul(heads.query, heads.rows);
  const std::int64_t key = checked_mul(heads.group, heads.rows);
  return concat_boxes(whole, dim, std::array{query, key, key});
}

std::optional<BoxMap> qkv_v1_boxes(const Shape& whole) {
  if (whole.empty() || whole[0] % 3 != 0) return std::nullopt;
  BoxMap map{whole, {}, {}};
  for (std::size_t part = 0; part < 3; ++part) {
    Shape& shape = map.parts.emplace_back(whole);
    shape[0] = whole[0] / 3;
    Link& link = map.links.emplace_back(link_at(part, whole.size()));
    link.whole_start[0] = static_cast<std::int64_t>(part);
    link.loops.push_back({shape[0], 0, 0, 1, 3});
    add_other_axes(whole, 1, link);
  }
  return map;
}

std::optional<BoxMap> rope_boxes(const Shape& whole, std::int64_t heads, std::int64_t rows) {
  if (whole.empty() || heads <= 0 || rows <= 0 || rows % 2 != 0) return std::nullopt;
  if (whole[0] != checked_mul(heads, rows)) return std::nullopt;
  const std::int64_t half = rows / 2;
  BoxMap map{whole, {whole}, {}};
  Link& link = map.links.emplace_back(link_at(0, whole.size()));
  link.loops.push_back({half, 0, 0, 1, 2});
  link.loops.push_back({2, 0, 0, half, 1});
  link.loops.push_back({heads, 0, 0, rows, rows});
  add_other_axes(whole, 1, link);
  return map;
}

BoxMap turned_boxes(BoxMap map) {
  if (map.parts.empty() || map.parts[0].size() != 2) return map;
  for (Shape& part : map.parts) std::swap(part[0], part[1]);
  for (Link& link : map.links) {
    for (Loop& loop : link.loops) loop.part_axis = 1 - loop.part_axis;
  }
  return map;
}

}  // namespace ttcheck::align
