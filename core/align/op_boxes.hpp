// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the parts lie in the whole, for each op of name maps (map_op.hpp) that moves elements.
// Nothing where the whole's shape does not admit it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/align/box_map.hpp"
#include "core/model/box.hpp"

namespace ttcheck::align {

/// Query heads, key and value heads, rows of one head; all above 0, and heads share them evenly.
struct HeadCounts {
  std::int64_t query = 0, group = 0, rows = 0;
};

/// One part that is the whole.
BoxMap same_boxes(const Shape& whole);

/// Parts of these lengths along `dim`, if they fill it.
std::optional<BoxMap> concat_boxes(const Shape& whole, std::int64_t dim,
                                   std::span<const std::int64_t> lengths);

/// Equal parts along `dim`, or parts as long as `known` ones.
std::optional<BoxMap> concat_boxes(const Shape& whole, std::int64_t dim, std::size_t parts,
                                   std::span<const Shape> known);

/// The whole that has the rows `begin` to `end` of the part's axis `dim`.
std::optional<BoxMap> slice_boxes(const Shape& part, std::int64_t dim, std::int64_t begin,
                                  std::int64_t end);

/// Parts along an axis `dim` that they do not have.
std::optional<BoxMap> stack_boxes(const Shape& whole, std::int64_t dim, std::size_t parts);

/// Gates and ups of experts, `2 * experts` parts: [2f, h] each, or [h, 2f] when `turned`; in
/// halves, or one by one as `pairs`.
std::optional<BoxMap> stack_glu_boxes(const Shape& whole, std::size_t parts, bool turned,
                                      bool pairs);

/// Queries, keys, values of which the rows lie by group: its query heads, its key, its value head.
std::optional<BoxMap> qkv_interleave_boxes(const Shape& whole, const HeadCounts& heads);

/// All queries, all keys, all values along `dim`.
std::optional<BoxMap> qkv_boxes(const Shape& whole, std::int64_t dim, const HeadCounts& heads);

/// Queries, keys, values of which the rows take turns.
std::optional<BoxMap> qkv_v1_boxes(const Shape& whole);

/// Pairs of rows side by side, which the part has in halves of a head.
std::optional<BoxMap> rope_boxes(const Shape& whole, std::int64_t heads, std::int64_t rows);

/// Each part turned; of one axis it stays as it is. REQUIRES links that begin where their parts do.
BoxMap turned_boxes(BoxMap map);

}  // namespace ttcheck::align
