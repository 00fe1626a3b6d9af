// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the ranks of one data parallel group hold of a model in Megatron core's names: their parts
// of the tensors, in the order in which modules register parameters. Distributed checkpoints
// store the optimizer of such a group under `dp_group_idx_<n>`, n counting tensor parallel fastest,
// then (experts) expert parallel, then pipeline parallel (parallel_state.py and
// optimizer/__init__.py in megatron/core).

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/name_map.hpp"
#include "core/model/record.hpp"
#include "formats/megatron/args.hpp"
#include "formats/megatron/optimizer_buffers.hpp"

namespace ttcheck::formats {

/// The model's weights by name, vocabularies with their padding.
using MegatronWeights = NameMap<std::vector<Record>>;

/// A group's parameter: what it holds of the tensor, part behind part.
struct GroupParameter {
  BufferParameter parameter;
  std::vector<Record> parts;
};

/// No file says which modules a model was built from; they differ in the order of parameters.
struct ModuleOrder {
  bool fused_norms = false;      ///< TransformerEngine: a norm is part of the layer behind it
  bool grouped_experts = false;  ///< all experts' first layers, then their second ones
};

class GroupParameters {
 public:
  /// `weights` and `args` must outlive it.
  GroupParameters(const MegatronWeights& weights, const MegatronArgs& args);
  ~GroupParameters();

  /// Lists a group's, in the model's order. Empty when the arguments do not say which layers the
  /// group has. Throws Error when groups and parameters are too many.
  std::vector<GroupParameter> of(std::int64_t group, ModuleOrder order);

 private:
  struct Entry;
  using Stages = std::map<std::int64_t, std::vector<Entry>>;

  const Stages& stages(ModuleOrder order);
  void take(const Entry& entry, std::int64_t tp, std::int64_t ep, std::vector<GroupParameter>& out);

  const MegatronWeights& weights_;
  const MegatronArgs& args_;
  std::vector<std::int64_t> layers_;                  ///< of each chunk
  std::size_t predicting_;                            ///< the chunk that predicts further tokens
  std::map<std::pair<bool, bool>, Stages> by_order_;  ///< what each stage holds
  std::size_t work_ = 0;
};

}  // namespace ttcheck::formats
