// SPDX-License-Identifier: Apache-2.0
#pragma once
// How Megatron core names and cuts what it stores in a distributed checkpoint
// (megatron/core/dist_checkpointing: mapping.py, strategies/torch.py,
// optimizer/distrib_optimizer.py). Layers that are alike are one tensor with the layers in front,
// then the experts: the number that the name lacks is the index. Where ranks store what they hold
// under keys of its own (`singleton_local_shards`), the halves of a gated layer are `<key>_w` and
// `<key>_v` (apply_swiglu_sharded_factory in transformer/mlp.py). Optimizer state is
// `optimizer.state.<kind>.<parameter>`; in model space (until 0.13) it is cut from flattened
// blocks. Rows of the vocabulary are padded.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/record.hpp"
#include "formats/dcp/metadata.hpp"

namespace ttcheck::formats {

/// A key taken apart.
struct MegatronKey {
  std::string name;         ///< of the parameter, without the numbers of stacked axes
  std::string suffix;       ///< `@master`, `@exp_avg`, ...; empty: a weight
  std::size_t stacked = 0;  ///< axes in front that are layers and experts
  std::vector<std::size_t>
      numbers_at;  ///< where in `name` each of their numbers goes, with its dot
  std::optional<std::size_t> layers, experts;  ///< which of the stacked axes are these
  std::optional<std::int64_t> half;            ///< of gate and up, where each has a key of its own
  bool vocabulary = false;                     ///< dim 0 is the vocabulary
  bool placed = true;  ///< false: buckets of buffers, which name no parameter
};

MegatronKey megatron_key(std::string_view key);

/// The logical shape, stacked axes in front, of a key's tensor of shape `stored`.
Shape whole_shape(const MegatronKey& key, Shape stored);

/// Counts the records that a chunk gives which was not flattened, before rows are cut off: one for
/// each index of the stacked axes. Throws Error when they are more than 2^20.
std::int64_t megatron_record_count(const MegatronKey& key, const DcpChunk& chunk);

/// Records of one chunk, without identity's kind and piece filled in but for the piece's offset:
/// one for each index of the stacked axes. `orig` is the shape before flattening, if it was
/// flattened; `vocabulary` the true number of rows, 0 if unknown. Throws Error when the shapes do
/// not fit each other.
std::vector<Record> megatron_records(const MegatronKey& key, const DcpTensor& tensor,
                                     const DcpChunk& chunk, const Shape* orig,
                                     std::int64_t vocabulary);

}  // namespace ttcheck::formats
