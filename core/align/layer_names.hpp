// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of layers by their place in a whole model, which say what a layer is only beside the other
// names of the checkpoint:
// * Megatron-DeepSpeed numbers the layers of a pipeline, `3.self_attention.dense.weight`, with the
//   embedding before them, and the final norm and the head behind (megatron/model/gpt_model.py
//   `GPTModelPipe`: two or three places come before the first transformer layer);
// * DeepSeek and GLM number layers that predict further tokens on from the model's own,
//   `model.layers.61.eh_proj.weight` (vLLM model_executor/models/deepseek_mtp.py), each with copies
//   of the embedding and the head.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/tensor.hpp"

namespace ttcheck::align {

class LayerNames {
 public:
  /// Learns from the names of one side of a comparison which of its numbered layers are transformer
  /// layers of a pipeline, and which predict further tokens.
  explicit LayerNames(std::span<const Tensor> tensors);

  /// A `bare` name as Megatron before core has it, or `mtp.layers.<n>.` before a layer's own name;
  /// any other name as it is.
  std::string spelled(const std::string& bare_name) const;

  /// The `bare` names of what such a layer's copy is a copy of, the likeliest first; none for
  /// anything else.
  std::vector<std::string> originals(const std::string& bare_name) const;

 private:
  std::string of_pipeline(std::string_view name, std::int64_t number, std::string_view rest) const;

  std::map<std::int64_t, std::int64_t> predicting_;  ///< by number, which one it is
  std::optional<std::int64_t> first_, last_;         ///< transformer layers of a pipeline
};

}  // namespace ttcheck::align
