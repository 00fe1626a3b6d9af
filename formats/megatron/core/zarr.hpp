// SPDX-License-Identifier: Apache-2.0
#pragma once
// The `zarr` back end of Megatron core's dist_checkpointing, until 2026: a directory for each key,
// which is a zarr array, or holds the objects of that key as `shard_<index>_<shape>.pt`
// (strategies/zarr.py and common.py in megatron/core/dist_checkpointing).

#include <string>
#include <string_view>
#include <vector>

#include "formats/arrays/zarr_array.hpp"
#include "formats/dcp/metadata.hpp"
#include "formats/readers/format.hpp"

namespace ttcheck::formats {

/// An array as the tensor that it would be in a table: the same chunks without padding.
struct MegatronZarrTensor {
  ZarrArray array;
  DcpTensor tensor;
};

struct MegatronZarr {
  std::vector<MegatronZarrTensor> tensors;
  std::vector<std::string> objects;  ///< paths
};

/// Reads all tables below `root`. What cannot be read, and bytes that belong to nothing, go to
/// `state`.
MegatronZarr read_megatron_zarr(const Root& root, State& state);

/// True for a directory that a key has.
bool is_megatron_zarr_key(const Root& root, std::string_view directory);

/// Sets the piece of record `i` of those that a chunk gives. `stacked`: how many axes are layers
/// and experts.
void place_in_zarr(const MegatronZarrTensor& tensor, std::size_t chunk, std::size_t stacked,
                   std::int64_t i, Record& record);

}  // namespace ttcheck::formats
