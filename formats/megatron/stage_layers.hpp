// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which layers a pipeline stage's chunk holds. Chunks take the layers in order, the first chunk of
// every stage before the second ones (get_transformer_layer_offset and
// get_num_layers_to_build in megatron/core/transformer/transformer_block.py and
// transformer_layer.py; pipeline_parallel_layer_layout.py for the layout string).

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/megatron/args.hpp"

namespace ttcheck::formats {

/// Layers of each chunk, by vpp * args.pp + pp. Empty when the arguments do not say, or contradict
/// themselves.
std::vector<std::int64_t> layers_by_chunk(const MegatronArgs& args);

/// The chunk, counted as above, that holds the layers of multi-token prediction, if there are any.
std::size_t predicting_chunk(const MegatronArgs& args);

/// Decoder layers of each stage that a layout string as `Et*3|(tt|)*29,m|L` lists. Empty for one
/// that cannot be understood.
std::vector<std::int64_t> layers_of_layout(std::string_view layout);

}  // namespace ttcheck::formats
