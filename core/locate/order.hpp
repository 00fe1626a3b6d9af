// SPDX-License-Identifier: Apache-2.0
#pragma once
// Causal order of the records of one step of a trace.

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/mesh.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::locate {

/// Smaller happened earlier: state, forward, loss, backward, sync, clip, optimizer; micro-batch by
/// micro-batch; pipeline stages ascending in forward and descending in backward; then `seq`.
struct CausalPlace {
  std::int32_t phase = 0;
  std::int32_t microbatch = 0;
  std::int64_t stage = 0;
  std::int64_t seq = 0;
  std::int32_t after = 0;  ///< 1 for a comm record behind its neighbour

  auto operator<=>(const CausalPlace&) const = default;
};

/// The place of each tensor of one side. A `comm` record takes phase, micro-batch and stage of the
/// last record before it on its rank, else of the first behind it. On a side of one rank stages do
/// not count.
std::vector<CausalPlace> causal_places(std::span<const Tensor> tensors, const Mesh& mesh);

}  // namespace ttcheck::locate
