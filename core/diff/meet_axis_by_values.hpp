// SPDX-License-Identifier: Apache-2.0
#pragma once
// Along which axis of the mesh ranks cut a tensor of which nothing says so and whose shape fits
// several: ranks hold the same along the others.

#include <cstdint>
#include <span>

#include "core/align/align.hpp"
#include "core/model/mesh.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::diff {

struct CutTotal {
  std::int64_t tensors = 0;
  std::uint64_t bytes = 0;  ///< that the tensors have grown by
};

/// Gives `tensors`, the one or the other side of `pairs`, the shape of `others` where a mesh axis
/// tells how. Of a tensor that is bit for bit equal along all axes but one, and unlike along that,
/// it is that one. Others (gradients that are not yet added up differ everywhere) are cut as most
/// of those are, if their shape allows it.
CutTotal cut_by_values(std::span<Tensor> tensors, std::span<const Tensor> others,
                       std::span<const align::PairIndex> pairs, bool reference, const Mesh& mesh);

}  // namespace ttcheck::diff
