// SPDX-License-Identifier: Apache-2.0
#pragma once
// What Meta's `params.json` states of a model, and the shapes that follow for its tensors
// (github.com/meta-llama/llama: llama/model.py `ModelArgs`, `FeedForward`).

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/model/box.hpp"
#include "core/model/fact.hpp"
#include "formats/bytes/json.hpp"

namespace ttcheck::formats {

/// 0: not stated.
struct MetaParams {
  std::int64_t dim = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, vocab = 0;
};

/// Throws Error when the numbers cannot be those of a model.
MetaParams meta_params(const Json& object);

/// Facts under common names (`model.layers` `model.heads` ...), and all scalars as notes
/// `params.<key>`.
std::vector<Fact> meta_facts(const Json& object, const MetaParams& params);

struct MetaTensor {
  std::string_view family;  ///< glob of the names that are alike, one in each layer
  Shape shape;              ///< of the whole; 0 for an extent that is not stated
};

/// None for a name that is not of the model.
std::optional<MetaTensor> meta_tensor(const MetaParams& params, std::string_view name);

}  // namespace ttcheck::formats
