// SPDX-License-Identifier: Apache-2.0
#pragma once
// The model as it was trained (16-bit, or 32 under fp32): modules of model_states files, layer
// files of pipelines, expert files, and frozen parameters.

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/run.hpp"
#include "formats/deepspeed/tag.hpp"

namespace ttcheck::formats {

/// A rank's weight as the file has it.
struct DeepspeedWeight {
  std::string name;
  Shape shape;
  DType dtype = DType::f32;
  std::int32_t rank = kNoRank;
  const DeepspeedPart* part = nullptr;  ///< the file that holds it
  const Source* source = nullptr;
  std::uint64_t offset = 0;
};

/// Adds the weights and buffers, and gives the weights; names that are stored under others as facts
/// `tied.<alias>`. The empty tensors that ZeRO 3 leaves are no tensors. The tag must outlive the
/// records.
std::vector<DeepspeedWeight> read_model(const DeepspeedTag& tag, State& state);

}  // namespace ttcheck::formats
