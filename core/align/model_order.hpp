// SPDX-License-Identifier: Apache-2.0
#pragma once
// The order in which a model uses its tensors, read from their names: embeddings, layers ascending
// (norm, attention, norm, mlp), final norm, layers of multi-token prediction, head; weights before
// optimizer state.

#include <compare>
#include <cstdint>

#include "core/model/identity.hpp"

namespace ttcheck::align {

/// Smaller is earlier. Equal places keep the order of the file. A layer is the first number of a
/// name, and a block within it the next one if it follows at once (`layer2.0`, `features.1.0`) or
/// counts a list, whose name is a plural (`stages.0.blocks.1`); `downsample.1` is a part.
struct ModelPlace {
  std::int32_t kind = 0;
  /// 0 embedding, 1 layers, 2 final norm, 3 layers of multi-token prediction, 4 head, then the rest
  std::int32_t section = 0;
  std::int64_t layer = 0;
  std::int64_t block = -1;  ///< within the layer; -1: what it has beside its blocks
  std::int32_t part = 0;    ///< within a layer

  auto operator<=>(const ModelPlace&) const = default;
};

ModelPlace model_place(const Identity& identity, Kind kind);

}  // namespace ttcheck::align
