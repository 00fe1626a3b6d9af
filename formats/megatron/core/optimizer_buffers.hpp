// SPDX-License-Identifier: Apache-2.0
#pragma once
// Buffers of the distributed optimizer in a distributed checkpoint of Megatron core: gathered into
// one object a group (`dp_zero_gather_scatter`), or a flat tensor a bucket (`dp_reshardable`;
// distrib_optimizer.py in megatron/core/optimizer). Neither names parameters: the order is computed
// for the modules that are known, and taken when the copies are the weights.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/run.hpp"
#include "formats/megatron/args.hpp"
#include "formats/megatron/core/data_parallel_group.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {

/// A bucket's key: `optimizer.distributed.dp_group_idx_0.gbuf_idx_0.dtype_(torch.bfloat16,
/// torch.float32).bucket_idx_0.exp_avg`.
struct BucketKey {
  std::int64_t group = 0;
  std::string buffer;  ///< what stands before the bucket's number
  DType dtype = DType::f32;
  std::int64_t bucket = 0;
  std::string kind;
};
std::optional<BucketKey> bucket_key(std::string_view key);

/// Reads the group of `optimizer.distributed.dp_group_idx_0.param_state`, with or without more.
std::optional<std::int64_t> gathered_group(std::string_view key);

/// A run of a bucket's elements: the piece holds them row-major, without cells.
struct BucketChunk {
  std::int64_t begin = 0, count = 0;
  Piece piece;
};

struct Bucket {
  BucketKey key;
  DType dtype = DType::f32;
  std::int64_t size = 0;
  std::vector<BucketChunk> chunks;
};

/// Adds records of what a gathered object holds. `file` must outlive them.
void add_gathered(const TorchFile& file, std::int64_t group, GroupParameters& groups,
                  const MegatronArgs& args, State& state);

/// Adds records of what all buckets hold.
void add_buckets(std::vector<Bucket> buckets, GroupParameters& groups, const MegatronArgs& args,
                 const Where& where, State& state);

}  // namespace ttcheck::formats
