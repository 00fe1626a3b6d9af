// SPDX-License-Identifier: Apache-2.0
#pragma once
// The stages of a pipeline whose files do not say which layers each trains (ZeRO 0), together.

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/deepspeed/group_assignment.hpp"
#include "formats/deepspeed/stage_parameters.hpp"
#include "formats/deepspeed/tag.hpp"

namespace ttcheck::formats {

/// The model_states file of a stage and its optimizer.
struct DeepspeedStage {
  const DeepspeedPart* part = nullptr;
  Value optimizer;
  std::vector<OptimizerGroup> groups;
};

/// A deal of all layers, and what of it the groups of each stage hold.
struct DeepspeedDealt {
  StageDeal deal;
  std::vector<DeepspeedAssigned> stages;
  bool ambiguous = false;     ///< other orders fit as well
  std::int64_t doubtful = 0;  ///< parameters whose masters are not their weights
  bool copied = false;        ///< a layer that is stored twice holds the same values twice
};

/// The first deal that fits; of flat groups the one whose masters are the weights. `tensor`: the
/// tensor-parallel rank. Throws Error for a flat group that is no row.
std::optional<DeepspeedDealt> deal(const DeepspeedTag& tag,
                                   const std::vector<DeepspeedWeight>& weights,
                                   const std::vector<DeepspeedStage>& stages, std::int64_t tensor);

/// The weights of layers become their stage's; those of a tied layer's twin become copies of it.
void place_layers(const DeepspeedTag& tag, const std::vector<DeepspeedWeight>& weights,
                  const std::vector<DeepspeedStage>& stages, const DeepspeedDealt& dealt,
                  std::int64_t tensor, State& state);

}  // namespace ttcheck::formats
