// SPDX-License-Identifier: Apache-2.0
#pragma once
// How tensors lie within another: q, k and v in a fused projection, rows of a Conv1D weight that
// other models keep as columns. A map of boxes, good in both directions; nothing is copied.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/model/box.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::align {

inline constexpr std::size_t kNoAxis = static_cast<std::size_t>(-1);

/// Indices that run together on both sides, from the link's starts on.
struct Loop {
  std::int64_t size = 1;
  std::size_t part_axis = kNoAxis, whole_axis = kNoAxis;
  std::int64_t part_step = 1, whole_step = 1;
};

/// Elements of one part and where they are in the whole: all combinations of the loops' indices.
struct Link {
  std::size_t part = 0;
  Extents part_start, whole_start;
  std::vector<Loop> loops;
};

/// One tensor and the parts that make it up, each element of the whole in one part.
struct BoxMap {
  Shape whole;
  std::vector<Shape> parts;
  std::vector<Link> links;
  std::vector<Box> outside{};  ///< of the first part: what the whole leaves out
};

/// Part `part` as a tensor of its own, which reads from the pieces of `whole`; what lies outside of
/// it is a hole. Identity and kind are the whole's. Throws Error when it would take too many boxes.
/// REQUIRES whole.shape == map.whole.
Tensor part_of(const BoxMap& map, const Tensor& whole, std::size_t part);

/// The whole as a tensor that reads from the parts' pieces; identity and kind are the first's, and
/// so are the words of a rounding, whose bounds are the widest of all parts.
/// Throws Error when it would take too many boxes. REQUIRES equal dtypes, no reductions, and the
/// shapes of `map.parts`.
Tensor whole_of(const BoxMap& map, std::span<const Tensor* const> parts);

}  // namespace ttcheck::align
