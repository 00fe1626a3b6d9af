// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of Megatron's modules: those that one rank counts, and those of the whole model.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ttcheck::formats {

/// A rank's name without the prefixes of wrappers (`module.` of DDP and Float16Module too).
std::string plain_megatron_name(std::string name);

/// The number of the decoder or encoder layer that a plain name is of; none for others, and for
/// those of multi-token prediction.
std::optional<std::int64_t> layer_of_name(std::string_view plain);

/// The number of the expert that a plain name is of; none for others, and for joined experts.
std::optional<std::int64_t> expert_of_name(std::string_view plain);

/// The place of a rank's chunk in the model.
struct ChunkPlace {
  std::int64_t first_layer = 0;
  std::int64_t first_expert = 0;
  bool tied_head = false;  ///< the head is a copy of the embedding that another stage has
};

/// The name in the whole model: numbers of layers and experts are counted on; a copy of the
/// embedding bears the embedding's name.
std::string global_megatron_name(std::string_view plain, const ChunkPlace& place);

/// True for a parameter of one of the experts (shared ones and the router are none).
bool is_expert_name(std::string_view name);

}  // namespace ttcheck::formats
