// SPDX-License-Identifier: Apache-2.0
#pragma once
// Adapters against the model they were trained on: a PEFT checkpoint holds factors for some of the
// base's weights, and none of those weights (peft/tuners/lora/layer.py names them
// `<module>.lora_A.weight`; `base_model.model.` stands before the base's own names). The other side
// may be the base, or the model with its adapter in it, whose factors meet the checkpoint's.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/align/alignment.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::align {

struct Adapter {
  bool is_candidate = true;  ///< else the reference is it
  std::int64_t factors = 0;  ///< tensors of the adapter
  std::int64_t targets = 0;  ///< weights that they change and that the adapter does not hold
  std::string first;         ///< name of the first of those
  std::int64_t rank = 0;     ///< the largest of the factors; 0: none is of low rank
};

/// A side is an adapter to the other when it has factors, they all belong to weights of the other
/// side, some of which it lacks itself, and it has nothing else left over. None otherwise.
std::optional<Adapter> find_adapter(std::span<const Tensor> reference,
                                    std::span<const Tensor> candidate, const Alignment& alignment);

}  // namespace ttcheck::align
