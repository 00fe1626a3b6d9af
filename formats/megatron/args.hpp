// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a Megatron run says of itself: the `args` Namespace that its checkpoints carry
// (megatron/training/arguments.py). Sizes of the model and of the parallel groups; whether they fit
// the tensors is for the readers of checkpoints to check.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/fact.hpp"
#include "formats/bytes/pickle.hpp"

namespace ttcheck::formats {

/// Sizes of 0 are unknown; those of parallel groups are 1 where the run says nothing.
struct MegatronArgs {
  std::int64_t layers = 0, hidden = 0, ffn = 0, expert_ffn = 0, shared_ffn = 0;
  std::int64_t heads = 0, groups = 0, head_dim = 0, experts = 0;
  std::int64_t vocab = 0, padded_vocab = 0;
  std::int64_t vocab_multiple = 0;  ///< the vocabulary is padded to multiples of it, and of tp
  bool extra_word = false;          ///< the tokenizer has one word more than `vocab`
  bool loaded = false;              ///< the run went on from a checkpoint
  std::int64_t predicting = 0;      ///< layers of multi-token prediction
  std::int64_t mamba_inner = 0, mamba_groups = 0, mamba_state = 0, mamba_heads = 0;
  std::int64_t q_lora = 0, kv_lora = 0;  ///< rows of MLA's down projections
  bool swiglu = false;
  bool untied = true;       ///< the head has weights of its own
  bool plain_qkv = true;    ///< rows of linear_qkv are those of heads and groups, no more
  bool same_layers = true;  ///< all layers have these sizes

  std::int64_t world = 1, tp = 1, pp = 1, vpp = 1, cp = 1, dp = 1, ep = 1, etp = 1;
  std::string contradiction;  ///< why the groups do not fit into the world; empty: they do
  bool dp_outermost = false;  ///< order tp-cp-ep-pp-dp in place of tp-cp-ep-dp-pp

  std::optional<std::int64_t> first_layers, last_layers;  ///< of the first and last stage
  bool embedding_counts = false, loss_counts = false;     ///< as a layer, when stages are cut
  std::string stage_layout;                               ///< as `Et*3|(tt|)*29,m|L`; empty: none

  bool distributed_optimizer = false;  ///< its state lies in buffers, beside the model

  std::int64_t bucket_size = 0;      ///< of the gradient buffers, in elements; 0: by default
  std::optional<std::int64_t> rank;  ///< of the process that wrote the file
  std::optional<Where> where;        ///< of the Namespace; none: there was none
  std::vector<Fact> facts;           ///< `model.*` compared, `parallel.*` as notes

  /// Writes what decides which layers and parts of experts a rank builds, beside the mesh; equal
  /// texts for equal splits.
  std::string split() const;

  /// Whether a stage behind the first one has a copy of the embedding, which is trained with it.
  bool embedding_is_shared() const { return pp > 1 && (!untied || predicting > 0); }

  /// Whether experts are cut or spread otherwise than the layers around them.
  bool has_expert_ranks() const { return ep > 1 || (experts > 0 && etp != tp); }
};

/// Makes the world as large as the groups need, where they do not fit into it, and says so. Throws
/// Error when it gets too large.
void fit_world(MegatronArgs& args);

/// Reads the Namespace. Throws Error that names the argument when a size is no size.
MegatronArgs read_megatron_args(Value args);

}  // namespace ttcheck::formats
