// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tensors of a distributed checkpoint of Megatron core, of either back end, as records:
// weights, optimizer state with names of its own, and buckets of the optimizer's buffers.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/name_map.hpp"
#include "core/model/run.hpp"
#include "formats/dcp/items.hpp"
#include "formats/megatron/core/cross_check.hpp"
#include "formats/megatron/core/optimizer_buffers.hpp"
#include "formats/megatron/core/zarr.hpp"
#include "formats/torch/budget.hpp"

namespace ttcheck::formats {

class MegatronTensors {
 public:
  MegatronTensors(const MegatronTensors&) = delete;
  MegatronTensors& operator=(const MegatronTensors&) = delete;
  /// `args` must outlive it. `gathered`: buffers will be placed by the weights.
  MegatronTensors(const MegatronArgs& args, bool gathered)
      : args_(args), buffers_(gathered), check_(args), groups_(weights_, args) {}

  /// Adds a table's tensors.
  void add(DcpData& data, State& state);
  /// Adds each array.
  void add(const MegatronZarr& zarr, State& state);

  /// Tells what groups hold of the added weights, if buffers are placed by them.
  GroupParameters& groups() { return groups_; }

 private:
  /// `asked`: how many of the chunks were looked for, also where it throws.
  void add(DcpData& data, const DcpTensor& tensor, std::size_t& asked, State& state);
  void add(const MegatronZarrTensor& tensor, State& state);
  void add_bucket(BucketKey key, DcpData& data, const DcpTensor& tensor, std::size_t& asked,
                  State& state);
  template <typename Make>
  void add_chunk(const MegatronKey& key, std::int64_t count, const Make& make, State& state);

  const MegatronArgs& args_;
  bool buffers_;
  StoredCheck check_;
  MegatronWeights weights_;
  GroupParameters groups_;  ///< asked once all weights are there
  std::vector<Bucket> buckets_;
  NameMap<const Shape*> original_;    ///< of flattened tensors
  std::optional<WalkBudget> budget_;  ///< of records
};

/// Counts the rows of the embedding in these, with its padding; 0: there is none.
std::int64_t vocabulary_rows(const DcpMetadata& metadata);
std::int64_t vocabulary_rows(const MegatronZarr& zarr);

}  // namespace ttcheck::formats
