// SPDX-License-Identifier: Apache-2.0
#include "core/align/features.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace ttcheck::align {
namespace {

Shape with_last(const Shape& shape, std::int64_t last) {
  Shape other = shape;
  other.back() = last;
  return other;
}

/// `rows` is of one axis, which becomes the last of `whole`.
BoxMap along_last(const BoxMap& rows, const Shape& whole) {
  const std::size_t last = whole.size() - 1;
  BoxMap map{whole, {}, {}};
  for (const Shape& part : rows.parts) map.parts.push_back(with_last(whole, part.front()));
  for (const Link& row : rows.links) {
    Link& link = map.links.emplace_back();
    link.part = row.part;
    link.part_start.assign(whole.size(), 0);
    link.whole_start.assign(whole.size(), 0);
    link.part_start[last] = row.part_start.front();
    link.whole_start[last] = row.whole_start.front();
    for (std::size_t d = 0; d < last; ++d) link.loops.push_back({whole[d], d, d, 1, 1});
    for (Loop loop : row.loops) {
      loop.part_axis = loop.whole_axis = last;
      link.loops.push_back(loop);
    }
  }
  return map;
}

}  // namespace

std::optional<BoxMap> features_of_whole(const MapOp& op, const Numbers& numbers, const Shape& whole,
                                        std::size_t parts, std::span<const Shape> known) {
  if (whole.empty()) return std::nullopt;
  std::vector<Shape> rows;
  for (const Shape& part : known) {
    if (part.empty()) return std::nullopt;
    rows.push_back({part.back()});
  }
  const auto map = map_of_whole(op, numbers, {whole.back()}, parts, rows);
  const bool fits =
      map && map->outside.empty() &&
      std::ranges::all_of(map->parts, [](const Shape& part) { return part.size() == 1; });
  return fits ? std::optional(along_last(*map, whole)) : std::nullopt;
}

std::optional<BoxMap> features_of_parts(const MapOp& op, const Numbers& numbers, const Shape& whole,
                                        std::span<const Shape> parts) {
  auto map = features_of_whole(op, numbers, whole, parts.size(), parts);
  if (!map || !std::ranges::equal(map->parts, parts)) return std::nullopt;
  return map;
}

}  // namespace ttcheck::align
