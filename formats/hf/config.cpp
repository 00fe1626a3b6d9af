// SPDX-License-Identifier: Apache-2.0
// Facts are made in this order: what the rows below find, the defaults of transformers for what
// the config does not say (marked as assumed), keys that shape the function and have no common
// name, and all other scalars as notes, which are not compared. Of a multi-modal config all but
// the notes are read in the part that describes the language model. The first spelling of a key
// that has a scalar counts; a null, a list or an object there is as good as silence.
// Two configs that say the same must give equal facts: numbers that are real by their meaning
// become doubles, and lists and objects become a text with sorted keys, of which a long one
// leaves only size and hash. `head_dim` of latent attention is a note, since models differ in
// what they mean by it.

#include "formats/hf/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>

#include "core/base/digest.hpp"
#include "core/base/name_map.hpp"
#include "formats/folder/json_facts.hpp"
#include "formats/hf/canonical_json.hpp"
#include "formats/hf/defaults.hpp"

namespace ttcheck::formats {
namespace {

struct Row {
  std::string_view fact;
  std::string_view key;  ///< may be `object.key`
};

/// Several keys of one fact: model families disagree on the spelling; the first that is there
/// counts.
constexpr std::array kRows = {
    Row{"model.type", "model_type"},
    Row{"model.layers", "num_hidden_layers"},
    Row{"model.layers", "n_layer"},
    Row{"model.layers", "num_layers"},
    Row{"model.layers", "n_layers"},
    Row{"model.heads", "num_attention_heads"},
    Row{"model.heads", "n_head"},
    Row{"model.heads", "n_heads"},
    Row{"model.kv_heads", "num_key_value_heads"},
    Row{"model.kv_heads", "num_kv_heads"},
    Row{"model.head_dim", "head_dim"},
    Row{"model.hidden", "hidden_size"},
    Row{"model.hidden", "n_embd"},
    Row{"model.hidden", "d_model"},
    Row{"model.ffn", "intermediate_size"},
    Row{"model.ffn", "n_inner"},
    Row{"model.ffn", "ffn_dim"},
    Row{"model.expert_ffn", "moe_intermediate_size"},
    Row{"model.experts", "num_experts"},
    Row{"model.experts", "num_local_experts"},
    Row{"model.experts", "n_routed_experts"},
    Row{"model.experts_per_token", "num_experts_per_tok"},
    Row{"model.vocab", "vocab_size"},
    Row{"model.rope_theta", "rope_theta"},
    Row{"model.rope_theta", "rope_parameters.rope_theta"},
    Row{"model.rope_theta", "rotary_emb_base"},
    Row{"model.rope_type", "rope_parameters.rope_type"},
    Row{"model.rope_type", "rope_scaling.rope_type"},
    Row{"model.rope_type", "rope_scaling.type"},
    Row{"model.rope_factor", "rope_parameters.factor"},
    Row{"model.rope_factor", "rope_scaling.factor"},
    Row{"model.rotary_fraction", "partial_rotary_factor"},
    Row{"model.rotary_fraction", "rope_parameters.partial_rotary_factor"},
    Row{"model.rotary_fraction", "rotary_pct"},
    Row{"model.norm_eps", "rms_norm_eps"},
    Row{"model.norm_eps", "layer_norm_eps"},
    Row{"model.norm_eps", "layer_norm_epsilon"},
    Row{"model.norm_eps", "layernorm_epsilon"},
    Row{"model.activation", "hidden_act"},
    Row{"model.activation", "activation_function"},
    Row{"model.sliding_window", "sliding_window"},
    Row{"model.tied_embeddings", "tie_word_embeddings"},
};

/// Keys of the model that shape its function beside those above; objects and lists among them.
constexpr std::array kShaping = {"attention_bias",
                                 "mlp_bias",
                                 "final_logit_softcapping",
                                 "attn_logit_softcapping",
                                 "query_pre_attn_scalar",
                                 "attention_multiplier",
                                 "residual_multiplier",
                                 "embedding_multiplier",
                                 "logits_scaling",
                                 "use_sliding_window",
                                 "layer_types",
                                 "quantization_config",
                                 "norm_topk_prob",
                                 "routed_scaling_factor",
                                 "n_group",
                                 "topk_group",
                                 "scoring_func",
                                 "first_k_dense_replace",
                                 "alibi",
                                 "multi_query",
                                 "parallel_attn",
                                 "use_parallel_residual",
                                 "scale_attn_weights",
                                 "scale_attn_by_inverse_layer_idx",
                                 "position_embedding_type",
                                 "attention_chunk_size",
                                 "no_rope_layers"};

/// The objects that scale rotary positions, of which rows above do not take all.
constexpr std::array<std::string_view, 2> kRope = {"rope_parameters", "rope_scaling"};
constexpr std::array<std::string_view, 5> kRopeKnown = {"rope_theta", "rope_type", "type", "factor",
                                                        "partial_rotary_factor"};

/// What the update that an adapter's factors make depends on beside them (peft/tuners/lora/layer.py
/// `update_layer`: lora_alpha / r, or by the root of r; loha and lokr: alpha / r).
constexpr std::array<std::string_view, 7> kAdapter = {
    "peft_type", "r", "lora_alpha", "alpha", "use_rslora", "use_dora", "fan_in_fan_out"};
/// What it depends on for modules whose names fit an expression.
constexpr std::array<std::string_view, 2> kAdapterPatterns = {"rank_pattern", "alpha_pattern"};

std::optional<Json> find_path(const Json& object, std::string_view path) {
  const std::size_t dot = path.find('.');
  const std::optional<Json> first = object.find(path.substr(0, dot));
  if (!first || dot == std::string_view::npos) return first;
  return first->find(path.substr(dot + 1));
}

/// The part of a multi-modal config in which the language model is described.
Json text_part(const Json& config) {
  for (const std::string_view key : {"text_config", "llm_config", "language_config"}) {
    const std::optional<Json> part = config.find(key);
    if (part && part->is(Json::Kind::object)) return *part;
  }
  return config;
}

/// The text of a list or an object, or size and hash of a long one.
FactValue nested(const Json& value) {
  constexpr std::size_t kShown = 256;
  return shortened(canonical_text(value), kShown);
}

void add_shaping(const Json& model, std::vector<Fact>& facts) {
  for (const std::string_view key : kShaping) {
    const std::optional<Json> value = model.find(key);
    if (!value || value->is(Json::Kind::null)) continue;
    std::optional<FactValue> text = scalar_of(*value);
    facts.push_back(fact_from(*value, fmt::format("config.{}", key), text ? *text : nested(*value),
                              FactUse::compared));
  }
  for (const std::string_view object : kRope) {
    const std::optional<Json> rope = model.find(object);
    if (!rope || !rope->is(Json::Kind::object)) continue;
    for (const auto& [key, value] : rope->members()) {
      if (std::ranges::find(kRopeKnown, key) != kRopeKnown.end()) continue;
      std::optional<FactValue> text = scalar_of(value);
      facts.push_back(fact_from(value, fmt::format("model.rope.{}", key),
                                text ? *text : nested(value), FactUse::compared));
    }
  }
}

/// Adds what transformers takes where the config is silent.
void add_defaults(const Json& model, const std::set<std::string_view>& known,
                  std::vector<Fact>& facts) {
  const std::optional<Json> type = model.find("model_type");
  if (!type || !type->is(Json::Kind::string)) return;
  for (const Row& row : kRows) {
    if (known.contains(row.fact) || find_fact(facts, row.fact) != nullptr) continue;
    if (auto value = hf_default(type->string(), row.fact)) {
      facts.push_back(
          fact_from(model, std::string(row.fact), std::move(*value), FactUse::compared));
      facts.back().assumed = true;
    }
  }
}

}  // namespace

std::vector<Fact> adapter_facts(const Json& config) {
  std::vector<Fact> facts = note_facts(config, "adapter");
  for (const std::string_view key : kAdapterPatterns) {
    const std::optional<Json> pattern = config.find(key);
    if (!pattern || !pattern->is(Json::Kind::object)) continue;
    for (Fact& fact : note_facts(*pattern, "adapter." + std::string(key))) {
      fact.use = FactUse::compared;
      facts.push_back(std::move(fact));
    }
  }
  for (Fact& fact : facts) {
    for (const std::string_view key : kAdapter) {
      if (fact.name == "adapter." + std::string(key)) fact.use = FactUse::compared;
    }
  }
  return facts;
}

std::vector<Fact> config_facts(const Json& config) {
  const Json model = text_part(config);
  const bool latent = model.find("kv_lora_rank").has_value();
  std::vector<Fact> facts;
  std::set<std::string_view> known;
  for (const Row& row : kRows) {
    if (known.contains(row.fact)) continue;
    const std::optional<Json> value = find_path(model, row.key);
    if (!value) continue;
    std::optional<FactValue> text = scalar_of(*value);
    if (!text) continue;
    known.insert(row.fact);
    // The same number may be written as 10000 or 10000.0.
    const bool real = row.fact == "model.rope_theta" || row.fact == "model.rope_factor" ||
                      row.fact == "model.norm_eps" || row.fact == "model.rotary_fraction";
    if (real && std::holds_alternative<std::int64_t>(*text)) text = value->number();
    // Of multi-head latent attention it is the rotary part's width to some and unused by others.
    const bool unused = latent && row.fact == "model.head_dim";
    const FactUse use = unused ? FactUse::note : FactUse::compared;
    facts.push_back(fact_from(*value, std::string(row.fact), std::move(*text), use));
  }
  add_defaults(model, known, facts);
  add_shaping(model, facts);
  NameSet said;
  for (const Fact& fact : facts) said.insert(fact.name);
  for (Fact& note : note_facts(config, "config")) {
    if (said.insert(note.name).second) facts.push_back(std::move(note));
  }
  for (Fact& fact : facts) fact.source = FactSource::config;
  return facts;
}

}  // namespace ttcheck::formats
