// SPDX-License-Identifier: Apache-2.0
// The Namespace comes from a pickle, so an attribute may be absent, of another type or absurd. A
// size must be a whole number from 0 to 2^40, a group one from 1 to 2^17, or an Error names the
// argument. A flag that is no truth value counts as not set. Ranks and chunks are listed one by
// one later, so more than 2^17 of either is an Error, too.
// The world must be a multiple of tp*pp*cp and, where experts are cut or spread otherwise, of
// etp*ep*pp. Where it is not, the least common multiple of both takes its place and
// `contradiction` says why; dp is the world over tp*pp*cp. Experts that do not divide over ep are
// a contradiction that changes nothing.
// Sizes of 0 make no facts. Groups and the padded vocabulary are notes, since they depend on how
// the run was cut over ranks; the rest is compared, but for the width of heads of latent
// attention.

#include "formats/megatron/args.hpp"

#include <fmt/format.h>

#include <array>
#include <numeric>
#include <string_view>

#include "core/base/checked.hpp"
#include "core/base/name_map.hpp"
#include "formats/objects/known.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 40;   // of a size
constexpr std::int64_t kMaxWorld = std::int64_t{1} << 17;  // ranks that are listed at most

struct FactRow {
  std::string_view fact;
  std::string_view key;
  bool real = false;  ///< the same number may be written as 10000 or 10000.0
};

/// What shapes the function. Names are those of other formats' facts, where they mean the same.
constexpr std::array kShaping = {
    FactRow{"model.rope_theta", "rotary_base", true},
    FactRow{"model.rotary_fraction", "rotary_percent", true},
    FactRow{"model.norm_eps", "layernorm_epsilon", true},
    FactRow{"model.normalization", "normalization"},
    FactRow{"model.position_embedding", "position_embedding_type"},
    FactRow{"model.rotary_interleaved", "rotary_interleaved"},
    FactRow{"model.norm_plus_one", "apply_layernorm_1p"},
    FactRow{"model.qk_layernorm", "qk_layernorm"},
    FactRow{"model.swiglu", "swiglu"},
};

class Reader {
 public:
  explicit Reader(Value args) : where_(args.where()) {
    for (const auto& [key, value] : attributes(args)) {
      if (const auto name = key.text()) values_.insert_or_assign(std::string(*name), value);
    }
    out_.where = where_;
  }

  MegatronArgs read() {
    read_model();
    read_groups();
    read_stages();
    out_.distributed_optimizer = flag("use_distributed_optimizer");
    out_.bucket_size = size("ddp_bucket_size");
    if (const auto rank = integer("rank"); rank && *rank >= 0) out_.rank = *rank;
    add_facts();
    return std::move(out_);
  }

 private:
  Value find(std::string_view key) const {
    const auto found = values_.find(std::string(key));
    return found == values_.end() ? Value() : found->second;
  }

  std::optional<std::int64_t> integer(std::string_view key) const { return find(key).integer(); }
  bool flag(std::string_view key) const { return find(key).boolean().value_or(false); }

  /// A size; `missing` where the run says nothing.
  std::int64_t size(std::string_view key, std::int64_t missing = 0) const {
    const Value value = find(key);
    if (!value || value.is_none()) return missing;
    const auto number = value.integer();
    if (!number || *number < 0 || *number > kLargest) {
      throw Error(fmt::format("args.{} is no size", key), value.where());
    }
    return *number;
  }

  std::int64_t group(std::string_view key, std::int64_t missing = 1) const {
    const std::int64_t ranks = size(key, missing);
    if (ranks < 1 || ranks > kMaxWorld) {
      throw Error(fmt::format("args.{} is {}, expected 1 to {}", key, ranks, kMaxWorld),
                  find(key) ? find(key).where() : where_);
    }
    return ranks;
  }

  void read_model() {
    out_.layers = size("num_layers");
    out_.hidden = size("hidden_size");
    out_.ffn = size("ffn_hidden_size");
    out_.predicting = size("mtp_num_layers");
    out_.experts = size("num_experts");
    out_.expert_ffn = size("moe_ffn_hidden_size", out_.ffn);
    out_.shared_ffn = size("moe_shared_expert_intermediate_size");
    out_.heads = size("num_attention_heads");
    out_.groups = flag("group_query_attention") ? size("num_query_groups", out_.heads) : out_.heads;
    out_.head_dim = size("kv_channels");
    out_.vocab = size("vocab_size");
    out_.padded_vocab = size("padded_vocab_size");
    out_.vocab_multiple = size("make_vocab_size_divisible_by");
    const auto tokenizer = find("tokenizer_type").text().value_or("");
    out_.extra_word = tokenizer == "NullTokenizer" || tokenizer == "NullMultimodalTokenizer";
    for (const std::string_view key : {"load", "pretrained_checkpoint"}) {
      out_.loaded = out_.loaded || find(key).text();
    }
    out_.swiglu = flag("swiglu");
    const Value untied = find("untie_embeddings_and_output_weights");
    out_.untied = untied && untied.boolean().value_or(false);
    out_.plain_qkv = !flag("multi_latent_attention") && !flag("attention_output_gate");
    const Value special = find("heterogeneous_layers_config_path");
    const Value noop = find("noop_layers");
    out_.same_layers = (!special || special.is_none()) && (!noop || noop.is_none());
    read_mamba();
    out_.q_lora = size("q_lora_rank");
    if (const std::int64_t rank = size("kv_lora_rank"); rank > 0) {
      out_.kv_lora = checked_add(rank, size("qk_pos_emb_head_dim"));
    }
  }

  /// megatron/core/ssm/mamba_mixer.py; the numbers of heads and of groups are the model's.
  void read_mamba() {
    out_.mamba_state = size("mamba_state_dim");
    out_.mamba_groups = size("mamba_num_groups");
    const std::int64_t head = size("mamba_head_dim", 64);
    const std::int64_t heads = size("mamba_num_heads");
    out_.mamba_inner =
        heads > 0 ? checked_mul(heads, head) : checked_mul<std::int64_t>(out_.hidden, 2);
    if (head > 0) out_.mamba_heads = out_.mamba_inner / head;
  }

  void read_groups() {
    out_.tp = group("tensor_model_parallel_size", group("model_parallel_size"));
    out_.pp = group("pipeline_model_parallel_size");
    out_.vpp = group("virtual_pipeline_model_parallel_size");
    out_.cp = group("context_parallel_size");
    out_.ep = group("expert_model_parallel_size");
    out_.etp = group("expert_tensor_parallel_size", out_.tp);
    out_.dp_outermost = flag("use_tp_pp_dp_mapping");
    const std::int64_t dense = checked_mul(checked_mul(out_.tp, out_.pp), out_.cp);
    out_.world = group("world_size", checked_mul(dense, group("data_parallel_size")));
    if (checked_mul(out_.pp, out_.vpp) > kMaxWorld) {
      throw Error(fmt::format("args: {} stages of {} chunks, expected at most {} chunks in all",
                              out_.pp, out_.vpp, kMaxWorld),
                  where_);
    }
    try {
      fit_world(out_);
    } catch (const Error& error) {
      throw error.at(where_);
    }
  }

  void read_stages() {
    for (const std::string_view key :
         {"decoder_first_pipeline_num_layers", "num_layers_in_first_pipeline_stage"}) {
      if (!out_.first_layers && integer(key)) out_.first_layers = size(key);
    }
    for (const std::string_view key :
         {"decoder_last_pipeline_num_layers", "num_layers_in_last_pipeline_stage"}) {
      if (!out_.last_layers && integer(key)) out_.last_layers = size(key);
    }
    out_.embedding_counts = flag("account_for_embedding_in_pipeline_split");
    out_.loss_counts = flag("account_for_loss_in_pipeline_split");
    out_.stage_layout = find("pipeline_model_parallel_layout").text().value_or("");
  }

  void add_size(std::string_view name, std::int64_t value, std::string_view key,
                FactUse use = FactUse::compared) {
    if (value <= 0) return;
    const Value from = find(key);
    out_.facts.push_back({std::string(name), value, use, from ? from.where() : where_});
  }

  void add_facts() {
    add_size("model.layers", out_.layers, "num_layers");
    add_size("model.hidden", out_.hidden, "hidden_size");
    add_size("model.ffn", out_.ffn, "ffn_hidden_size");
    add_size("model.heads", out_.heads, "num_attention_heads");
    add_size("model.kv_heads", out_.groups, "num_query_groups");
    // Multi-head latent attention has widths of its own.
    const FactUse use = flag("multi_latent_attention") ? FactUse::note : FactUse::compared;
    add_size("model.head_dim", out_.head_dim, "kv_channels", use);
    add_size("model.vocab", out_.vocab, "vocab_size");
    if (out_.experts > 0) {
      add_size("model.experts", out_.experts, "num_experts");
      add_size("model.expert_ffn", out_.expert_ffn, "moe_ffn_hidden_size");
      add_size("model.experts_per_token", size("moe_router_topk"), "moe_router_topk");
    }
    out_.facts.push_back({"model.tied_embeddings", !out_.untied, FactUse::compared, where_});
    for (const FactRow& row : kShaping) add_shaping(row);
    const std::pair<std::string_view, std::int64_t> groups[] = {
        {"parallel.tp", out_.tp},  {"parallel.pp", out_.pp}, {"parallel.vpp", out_.vpp},
        {"parallel.cp", out_.cp},  {"parallel.dp", out_.dp}, {"parallel.ep", out_.ep},
        {"parallel.etp", out_.etp}};
    for (const auto& [name, ranks] : groups) {
      out_.facts.push_back({std::string(name), ranks, FactUse::note, where_});
    }
    add_consumed();
    if (out_.padded_vocab > 0) {
      out_.facts.push_back({"parallel.padded_vocab", out_.padded_vocab, FactUse::note, where_});
    }
    for (Fact& fact : out_.facts) fact.source = FactSource::arguments;
  }

  /// Adds where in its data the run stands, which only the arguments say (save_checkpoint keeps
  /// them up to date in megatron/training/training.py).
  void add_consumed() {
    for (const std::string_view key : {"consumed_train_samples", "consumed_valid_samples"}) {
      const Value value = find(key);
      const auto samples = value ? value.integer() : std::nullopt;
      if (!samples) continue;
      out_.facts.push_back({std::string(key), *samples, FactUse::compared, value.where()});
    }
  }

  void add_shaping(const FactRow& row) {
    const Value value = find(row.key);
    if (!value || value.is_none()) return;
    const bool rope = row.key.starts_with("rotary");
    if (rope && find("position_embedding_type").text().value_or("rope") != "rope") return;
    Fact fact{std::string(row.fact), std::string(), FactUse::compared, value.where()};
    if (const auto boolean = value.boolean()) {
      fact.value = *boolean;
    } else if (const auto number = value.number(); number && row.real) {
      fact.value = *number;
    } else if (const auto whole = value.integer()) {
      fact.value = *whole;
    } else if (const auto text = value.text()) {
      fact.value = std::string(*text);
    } else {
      return;
    }
    out_.facts.push_back(std::move(fact));
  }

  Where where_;
  NameMap<Value> values_;
  MegatronArgs out_;
};

}  // namespace

std::string MegatronArgs::split() const {
  return fmt::format("{},{},{},{},{},{},{}", vpp, first_layers.value_or(-1),
                     last_layers.value_or(-1), embedding_counts, loss_counts, stage_layout,
                     experts > 0 && etp != tp ? etp : 0);
}

void fit_world(MegatronArgs& args) {
  const std::int64_t dense = checked_mul(checked_mul(args.tp, args.pp), args.cp);
  const std::int64_t expert =
      args.has_expert_ranks() ? checked_mul(checked_mul(args.etp, args.ep), args.pp) : 1;
  const std::int64_t unit = checked_mul(dense / std::gcd(dense, expert), expert);
  if (args.world % unit != 0) {
    args.contradiction = fmt::format(
        "{} ranks do not divide into groups of tp {}, pp {}, cp {}, ep {} and expert tp {}",
        args.world, args.tp, args.pp, args.cp, args.ep, args.etp);
    args.world = unit;
  } else if (args.experts % args.ep != 0) {
    args.contradiction =
        fmt::format("{} experts do not divide over {} ranks", args.experts, args.ep);
  }
  if (args.world > kMaxWorld) {
    throw Error(fmt::format("args: {} ranks, expected at most {}", args.world, kMaxWorld));
  }
  args.dp = args.world / dense;
}

MegatronArgs read_megatron_args(Value args) { return Reader(args).read(); }

}  // namespace ttcheck::formats
