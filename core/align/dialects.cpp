// SPDX-License-Identifier: Apache-2.0
// Sources: transformers models/{llama,qwen2,qwen3,mixtral,qwen3_moe,llama4,gpt_oss,gpt2,gpt_neox}/
// modeling_*.py;
// Megatron-LM megatron/core/models/gpt/gpt_layer_specs.py and megatron/legacy/model/
// transformer.py; meta-llama/llama model.py, which torchtitan keeps.

#include "core/align/dialects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "core/align/names.hpp"
#include "core/base/digits.hpp"
#include "core/base/name_map.hpp"

namespace ttcheck::align {
namespace {

constexpr std::string_view kSame = "same";
constexpr std::string_view kQkv = "qkv_interleave(heads,kv_heads,head_dim)";

/// `#` stands for a number; the name's last part (`weight`, `bias@exp_avg`) is carried over to
/// each of the parts, which are separated by blanks. A parameter may also end without it, and is a
/// weight then. Parts with `*` are there for each number below the first extent.
struct Row {
  std::string_view dialect, name, parts, op;
};

// clang-format off
constexpr std::array kRows = {
    // transformers: Llama, Mistral, Qwen
    Row{"hf", "embed_tokens", "embedding", kSame},
    Row{"hf", "layers.#.input_layernorm", "layers.#.norm1", kSame},
    Row{"hf", "layers.#.self_attn.q_proj", "layers.#.q", kSame},
    Row{"hf", "layers.#.self_attn.k_proj", "layers.#.k", kSame},
    Row{"hf", "layers.#.self_attn.v_proj", "layers.#.v", kSame},
    Row{"hf", "layers.#.self_attn.qkv_proj", "layers.#.q layers.#.k layers.#.v", "qkv_v0(heads,kv_heads,head_dim)"},
    Row{"hf", "layers.#.self_attn.q_norm", "layers.#.q_norm", kSame},
    Row{"hf", "layers.#.self_attn.k_norm", "layers.#.k_norm", kSame},
    Row{"hf", "layers.#.self_attn.o_proj", "layers.#.o", kSame},
    Row{"hf", "layers.#.post_attention_layernorm", "layers.#.norm2", kSame},
    Row{"hf", "layers.#.mlp.gate_proj", "layers.#.gate", kSame},
    Row{"hf", "layers.#.mlp.up_proj", "layers.#.up", kSame},
    Row{"hf", "layers.#.mlp.gate_up_proj", "layers.#.gate layers.#.up", "glu"},
    Row{"hf", "layers.#.mlp.down_proj", "layers.#.fc2", kSame},
    Row{"hf", "norm", "final_norm", kSame},
    Row{"hf", "lm_head", "head", kSame},
    // DeepSeek's latent attention
    Row{"hf", "layers.#.self_attn.q_a_proj", "layers.#.q_a", kSame},
    Row{"hf", "layers.#.self_attn.q_a_layernorm", "layers.#.q_a_norm", kSame},
    Row{"hf", "layers.#.self_attn.q_b_proj", "layers.#.q_b", kSame},
    Row{"hf", "layers.#.self_attn.kv_a_proj_with_mqa", "layers.#.kv_a", kSame},
    Row{"hf", "layers.#.self_attn.kv_a_layernorm", "layers.#.kv_a_norm", kSame},
    Row{"hf", "layers.#.self_attn.kv_b_proj", "layers.#.kv_b", kSame},
    // mixtures of experts
    Row{"hf", "layers.#.mlp.gate", "layers.#.router", kSame},
    Row{"hf", "layers.#.mlp.gate.e_score_correction", "layers.#.router_offset", kSame},
    Row{"hf", "layers.#.block_sparse_moe.gate", "layers.#.router", kSame},
    Row{"hf", "layers.#.mlp.experts.#.gate_proj", "layers.#.experts.#.gate", kSame},
    Row{"hf", "layers.#.mlp.experts.#.up_proj", "layers.#.experts.#.up", kSame},
    Row{"hf", "layers.#.mlp.experts.#.down_proj", "layers.#.experts.#.fc2", kSame},
    Row{"hf", "layers.#.block_sparse_moe.experts.#.w1", "layers.#.experts.#.gate", kSame},
    Row{"hf", "layers.#.block_sparse_moe.experts.#.w3", "layers.#.experts.#.up", kSame},
    Row{"hf", "layers.#.block_sparse_moe.experts.#.w2", "layers.#.experts.#.fc2", kSame},
    // their experts in one tensor: [experts, out, in], or transposed (Llama 4), and gate and up in turn (gpt-oss)
    Row{"hf", "layers.#.mlp.experts.gate_up_proj", "layers.#.experts.*.gate layers.#.experts.*.up", "stack_glu"},
    Row{"hf", "layers.#.mlp.experts.gate_up_proj", "layers.#.experts.*.gate layers.#.experts.*.up", "stack_glu_turned"},
    Row{"hf", "layers.#.mlp.experts.down_proj", "layers.#.experts.*.fc2", "stack(0)"},
    Row{"hf", "layers.#.mlp.experts.down_proj", "layers.#.experts.*.fc2", "stack_turned"},
    Row{"gpt-oss", "layers.#.mlp.experts.gate_up_proj", "layers.#.experts.*.gate layers.#.experts.*.up", "stack_glu_pairs"},
    Row{"gpt-oss", "layers.#.mlp.experts.down_proj", "layers.#.experts.*.fc2", "stack_turned"},
    Row{"hf", "layers.#.mlp.router", "layers.#.router", kSame},
    Row{"hf", "layers.#.feed_forward.experts.gate_up_proj", "layers.#.experts.*.gate layers.#.experts.*.up", "stack_glu_turned"},
    Row{"hf", "layers.#.feed_forward.experts.down_proj", "layers.#.experts.*.fc2", "stack_turned"},
    Row{"hf", "layers.#.feed_forward.router", "layers.#.router", kSame},
    Row{"hf", "layers.#.feed_forward.shared_expert.gate_proj", "layers.#.shared.gate", kSame},
    Row{"hf", "layers.#.feed_forward.shared_expert.up_proj", "layers.#.shared.up", kSame},
    Row{"hf", "layers.#.feed_forward.shared_expert.down_proj", "layers.#.shared.fc2", kSame},
    Row{"hf", "layers.#.feed_forward.gate_proj", "layers.#.gate", kSame},
    Row{"hf", "layers.#.feed_forward.up_proj", "layers.#.up", kSame},
    Row{"hf", "layers.#.feed_forward.down_proj", "layers.#.fc2", kSame},
    Row{"hf", "layers.#.mlp.shared_experts.gate_proj", "layers.#.shared.gate", kSame},
    Row{"hf", "layers.#.mlp.shared_experts.up_proj", "layers.#.shared.up", kSame},
    Row{"hf", "layers.#.mlp.shared_experts.down_proj", "layers.#.shared.fc2", kSame},
    Row{"hf", "layers.#.mlp.shared_expert.gate_proj", "layers.#.shared.gate", kSame},
    Row{"hf", "layers.#.mlp.shared_expert.up_proj", "layers.#.shared.up", kSame},
    Row{"hf", "layers.#.mlp.shared_expert.down_proj", "layers.#.shared.fc2", kSame},
    Row{"hf", "layers.#.mlp.shared_expert_gate", "layers.#.shared.gate_weight", kSame},
    // layers that predict further tokens: DeepSeek and GLM (by core/align/layer_names), Qwen's one, Megatron core's
    Row{"hf", "mtp.fc", "mtp.layers.0.eh_proj", kSame},
    Row{"hf", "mtp.pre_fc_norm_embedding", "mtp.layers.0.enorm", kSame},
    Row{"hf", "mtp.pre_fc_norm_hidden", "mtp.layers.0.hnorm", kSame},
    Row{"hf", "mtp.norm", "mtp.layers.0.final_layernorm", kSame},
    Row{"megatron", "mtp.layers.#.eh_proj", "mtp.layers.#.eh_proj", kSame},
    Row{"megatron", "mtp.layers.#.enorm", "mtp.layers.#.enorm", kSame},
    Row{"megatron", "mtp.layers.#.hnorm", "mtp.layers.#.hnorm", kSame},
    Row{"megatron", "mtp.layers.#.final_layernorm", "mtp.layers.#.final_layernorm", kSame},
    // transformers: GPT-2
    Row{"hf", "wte", "embedding", kSame},
    Row{"hf", "wpe", "positions", kSame},
    Row{"hf", "h.#.ln_1", "layers.#.norm1", kSame},
    Row{"hf", "h.#.ln_2", "layers.#.norm2", kSame},
    Row{"hf", "h.#.attn.c_attn", "layers.#.q layers.#.k layers.#.v", "conv1d_qkv(heads,heads,head_dim)"},
    Row{"hf", "h.#.attn.c_proj", "layers.#.o", "conv1d"},
    Row{"hf", "h.#.mlp.c_fc", "layers.#.fc1", "conv1d"},
    Row{"hf", "h.#.mlp.c_proj", "layers.#.fc2", "conv1d"},
    Row{"hf", "ln_f", "final_norm", kSame},
    // transformers: GPT-NeoX
    Row{"hf", "embed_in", "embedding", kSame},
    Row{"hf", "embed_out", "head", kSame},
    Row{"hf", "layers.#.attention.query_key_value", "layers.#.q layers.#.k layers.#.v", "qkv_interleave(heads,heads,head_dim)"},
    Row{"hf", "layers.#.attention.dense", "layers.#.o", kSame},
    Row{"hf", "layers.#.mlp.dense_h_to_4h", "layers.#.fc1", kSame},
    Row{"hf", "layers.#.mlp.dense_4h_to_h", "layers.#.fc2", kSame},
    Row{"hf", "final_layer_norm", "final_norm", kSame},
    // Megatron core: modules of the local spec, and what TransformerEngine's spec fuses
    Row{"megatron", "embedding.word_embeddings", "embedding", kSame},
    Row{"megatron", "embedding.position_embeddings", "positions", kSame},
    Row{"megatron", "decoder.layers.#.input_layernorm", "layers.#.norm1", kSame},
    Row{"megatron", "decoder.layers.#.self_attention.linear_qkv.layer_norm", "layers.#.norm1", kSame},
    Row{"megatron", "decoder.layers.#.self_attention.linear_qkv", "layers.#.qkv", kSame},
    Row{"megatron", "decoder.layers.#.self_attention.linear_qkv", "layers.#.q layers.#.k layers.#.v", kQkv},
    Row{"megatron", "decoder.layers.#.self_attention.q_layernorm", "layers.#.q_norm", kSame},
    Row{"megatron", "decoder.layers.#.self_attention.k_layernorm", "layers.#.k_norm", kSame},
    Row{"megatron", "decoder.layers.#.self_attention.linear_q_proj", "layers.#.q", kSame},
    Row{"megatron", "decoder.layers.#.self_attention.q_layernorm", "layers.#.q_a_norm", kSame},
    Row{"megatron", "decoder.layers.#.self_attention.kv_layernorm", "layers.#.kv_a_norm", kSame},
    Row{"megatron", "decoder.layers.#.self_attention.linear_q_down_proj", "layers.#.q_a", kSame},
    Row{"megatron", "decoder.layers.#.self_attention.linear_q_up_proj.layer_norm", "layers.#.q_a_norm", kSame},
    Row{"megatron", "decoder.layers.#.self_attention.linear_q_up_proj", "layers.#.q_b", kSame},
    Row{"megatron", "decoder.layers.#.self_attention.linear_kv_down_proj", "layers.#.kv_a", kSame},
    Row{"megatron", "decoder.layers.#.self_attention.linear_kv_up_proj.layer_norm", "layers.#.kv_a_norm", kSame},
    Row{"megatron", "decoder.layers.#.self_attention.linear_kv_up_proj", "layers.#.kv_b", kSame},
    Row{"megatron", "decoder.layers.#.self_attention.linear_proj", "layers.#.o", kSame},
    Row{"megatron", "decoder.layers.#.pre_mlp_layernorm", "layers.#.norm2", kSame},
    Row{"megatron", "decoder.layers.#.mlp.linear_fc1.layer_norm", "layers.#.norm2", kSame},
    Row{"megatron", "decoder.layers.#.mlp.linear_fc1", "layers.#.fc1", kSame},
    Row{"megatron", "decoder.layers.#.mlp.linear_fc1", "layers.#.gate layers.#.up", "glu"},
    Row{"megatron", "decoder.layers.#.mlp.linear_fc2", "layers.#.fc2", kSame},
    Row{"megatron", "decoder.layers.#.mlp.router", "layers.#.router", kSame},
    Row{"megatron", "decoder.layers.#.mlp.router.expert", "layers.#.router_offset", kSame},
    Row{"megatron", "decoder.layers.#.mlp.experts.local_experts.#.linear_fc1", "layers.#.experts.#.fc1", kSame},
    Row{"megatron", "decoder.layers.#.mlp.experts.local_experts.#.linear_fc1", "layers.#.experts.#.gate layers.#.experts.#.up", "glu"},
    Row{"megatron", "decoder.layers.#.mlp.experts.local_experts.#.linear_fc2", "layers.#.experts.#.fc2", kSame},
    Row{"megatron", "decoder.layers.#.mlp.experts.experts.#.linear_fc1", "layers.#.experts.#.fc1", kSame},
    Row{"megatron", "decoder.layers.#.mlp.experts.experts.#.linear_fc1", "layers.#.experts.#.gate layers.#.experts.#.up", "glu"},
    Row{"megatron", "decoder.layers.#.mlp.experts.experts.#.linear_fc2", "layers.#.experts.#.fc2", kSame},
    Row{"megatron", "decoder.layers.#.mlp.experts.linear_fc1.weight#", "layers.#.experts.#.fc1", kSame},
    Row{"megatron", "decoder.layers.#.mlp.experts.linear_fc1.weight#", "layers.#.experts.#.gate layers.#.experts.#.up", "glu"},
    Row{"megatron", "decoder.layers.#.mlp.experts.linear_fc2.weight#", "layers.#.experts.#.fc2", kSame},
    Row{"megatron", "decoder.layers.#.mlp.shared_experts.linear_fc1", "layers.#.shared.fc1", kSame},
    Row{"megatron", "decoder.layers.#.mlp.shared_experts.linear_fc1", "layers.#.shared.gate layers.#.shared.up", "glu"},
    Row{"megatron", "decoder.layers.#.mlp.shared_experts.linear_fc2", "layers.#.shared.fc2", kSame},
    Row{"megatron", "decoder.layers.#.mlp.shared_experts.gate", "layers.#.shared.gate_weight", kSame},
    Row{"megatron", "decoder.final_layernorm", "final_norm", kSame},
    Row{"megatron", "output_layer", "head", kSame},
    // Megatron before core, and Megatron-DeepSpeed (its pipelines by core/align/layer_names)
    Row{"megatron", "language_model.embedding.word_embeddings", "embedding", kSame},
    Row{"megatron", "language_model.embedding.position_embeddings", "positions", kSame},
    Row{"megatron", "language_model.encoder.layers.#.input_layernorm", "layers.#.norm1", kSame},
    Row{"megatron", "language_model.encoder.layers.#.input_norm", "layers.#.norm1", kSame},
    Row{"megatron", "language_model.encoder.layers.#.self_attention.query_key_value", "layers.#.qkv", kSame},
    Row{"megatron", "language_model.encoder.layers.#.self_attention.query_key_value", "layers.#.q layers.#.k layers.#.v", kQkv},
    Row{"megatron", "language_model.encoder.layers.#.self_attention.q_layernorm", "layers.#.q_norm", kSame},
    Row{"megatron", "language_model.encoder.layers.#.self_attention.k_layernorm", "layers.#.k_norm", kSame},
    Row{"megatron", "language_model.encoder.layers.#.self_attention.dense", "layers.#.o", kSame},
    Row{"megatron", "language_model.encoder.layers.#.post_attention_layernorm", "layers.#.norm2", kSame},
    Row{"megatron", "language_model.encoder.layers.#.post_attention_norm", "layers.#.norm2", kSame},
    Row{"megatron", "language_model.encoder.layers.#.mlp.dense_h_to_4h", "layers.#.fc1", kSame},
    Row{"megatron", "language_model.encoder.layers.#.mlp.dense_h_to_4h", "layers.#.gate layers.#.up", "glu"},
    Row{"megatron", "language_model.encoder.layers.#.mlp.dense_4h_to_h", "layers.#.fc2", kSame},
    Row{"megatron", "language_model.encoder.layers.#.mlp.deepspeed_moe.gate.wg", "layers.#.router", kSame},
    Row{"megatron", "language_model.encoder.layers.#.mlp.deepspeed_moe.experts.deepspeed_experts.#.dense_h_to_4h", "layers.#.experts.#.fc1", kSame},
    Row{"megatron", "language_model.encoder.layers.#.mlp.deepspeed_moe.experts.deepspeed_experts.#.dense_h_to_4h", "layers.#.experts.#.gate layers.#.experts.#.up", "glu"},
    Row{"megatron", "language_model.encoder.layers.#.mlp.deepspeed_moe.experts.deepspeed_experts.#.dense_4h_to_h", "layers.#.experts.#.fc2", kSame},
    Row{"megatron", "language_model.encoder.final_layernorm", "final_norm", kSame},
    Row{"megatron", "language_model.encoder.final_norm", "final_norm", kSame},
    Row{"megatron", "language_model.output_layer", "head", kSame},
    // Meta's Llama and torchtitan, whose rotary pairs lie side by side
    Row{"meta", "tok_embeddings", "embedding", kSame},
    Row{"meta", "layers.#.attention_norm", "layers.#.norm1", kSame},
    Row{"meta", "layers.#.attention.wq", "layers.#.q", "rope_permute(heads,head_dim)"},
    Row{"meta", "layers.#.attention.wk", "layers.#.k", "rope_permute(kv_heads,head_dim)"},
    Row{"meta", "layers.#.attention.wv", "layers.#.v", kSame},
    Row{"meta", "layers.#.attention.wo", "layers.#.o", kSame},
    Row{"meta", "layers.#.ffn_norm", "layers.#.norm2", kSame},
    Row{"meta", "layers.#.feed_forward.w1", "layers.#.gate", kSame},
    Row{"meta", "layers.#.feed_forward.w3", "layers.#.up", kSame},
    Row{"meta", "layers.#.feed_forward.w2", "layers.#.fc2", kSame},
    Row{"meta", "output", "head", kSame},
};
// clang-format on

constexpr auto kRoots =
    std::to_array<std::string_view>({"transformer.", "gpt_neox.", "language_model.model."});

/// What a layer of multi-token prediction wraps is a decoder layer: by its module's name, by the
/// one that Megatron core stores (multi_token_prediction.py), and with nothing between.
struct Predicting {
  std::string_view name, decoder;
};
constexpr std::array kPredicting = {
    Predicting{"mtp.layers.#.mtp_model_layer.", "decoder.layers.#."},
    Predicting{"mtp.layers.#.transformer_layer.", "decoder.layers.#."},
    Predicting{"mtp.layers.#.", "layers.#."}};
constexpr std::string_view kPredicted = "mtp.";  ///< before the parts of such a layer

constexpr std::int64_t kMaxExperts = 4096;  ///< in one tensor; models have hundreds

using Index = NameViewMap<std::vector<const Row*>>;

const Index& index() {
  static const Index made = [] {
    Index rows;
    for (const Row& row : kRows) rows[row.name].push_back(&row);
    return rows;
  }();
  return made;
}

/// A name taken apart: `layers.#.mlp.experts.linear_fc1.weight#`, its numbers, and `weight`.
struct Pattern {
  std::string text;
  std::vector<std::string_view> numbers;
  std::string last;       ///< `weight` or `bias`
  std::string_view kind;  ///< `@exp_avg`; empty for weights
  std::string_view root;  ///< before the name of each part
};

void add_part(std::string_view part, Pattern& pattern) {
  if (!pattern.text.empty()) pattern.text += '.';
  if (is_number(part)) pattern.numbers.push_back(part);
  pattern.text += is_number(part) ? std::string_view("#") : part;
}

/// `weight`, `layer_norm_weight` and `weight12` all end a parameter's name; `experts.down_proj`
/// may.
std::optional<Pattern> pattern_of(std::string_view name) {
  Pattern pattern;
  if (name.find('#') != std::string_view::npos) return std::nullopt;  // stands for numbers here
  const std::size_t at = name.find('@');
  if (at != std::string_view::npos) pattern.kind = name.substr(at);
  name = name.substr(0, at);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  std::string_view end = name.substr(dot + 1);
  for (std::string_view body = name.substr(0, dot); !body.empty();) {
    const std::string_view part = body.substr(0, body.find('.'));
    body.remove_prefix(std::min(body.size(), part.size() + 1));
    add_part(part, pattern);
  }
  const std::size_t digits = end.find_last_not_of("0123456789") + 1;
  const std::string_view number = end.substr(digits);
  const std::string_view word = end.substr(0, digits);
  const std::size_t stem = word.rfind('_');
  pattern.last = stem == std::string_view::npos ? word : word.substr(stem + 1);
  if (pattern.last != "weight" && pattern.last != "bias") {
    pattern.last = "weight";
    add_part(end, pattern);
    return pattern;
  }
  if (stem != std::string_view::npos) add_part(word.substr(0, stem), pattern);
  if (!number.empty()) {
    pattern.text += ".weight#";
    pattern.numbers.push_back(number);
  }
  return pattern;
}

void see_as_decoder_layer(Pattern& pattern) {
  if (index().contains(pattern.text)) return;
  for (const auto& [name, decoder] : kPredicting) {
    if (!pattern.text.starts_with(name)) continue;
    pattern.text.replace(0, name.size(), decoder);
    pattern.root = kPredicted;
    return;
  }
}

std::string filled(std::string_view part, const Pattern& pattern, std::int64_t expert) {
  std::string text(pattern.root);
  std::size_t next = 0;
  for (const char c : part) {
    if (c == '#') {
      text += pattern.numbers[next++];
    } else if (c == '*') {
      text += fmt::format("{}", expert);
    } else {
      text += c;
    }
  }
  text += '.';
  text += pattern.last;
  text += pattern.kind;
  return text;
}

/// The parts of a row, once, or for each expert that lies in the tensor; none when it holds none.
std::vector<std::string> parts_of(const Row& row, const Pattern& pattern, const Shape& shape) {
  std::int64_t experts = 1;
  if (row.parts.find('*') != std::string_view::npos) {
    experts = shape.empty() || element_count(shape) == 0 ? 0 : shape[0];
    if (experts > kMaxExperts) experts = 0;
  }
  std::vector<std::string> parts;
  for (std::int64_t expert = 0; expert < experts; ++expert) {
    for (std::string_view rest = row.parts; !rest.empty();) {
      const std::string_view part = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), part.size() + 1));
      parts.push_back(filled(part, pattern, expert));
    }
  }
  return parts;
}

/// gpt-oss has its experts under the same names as others, but for their biases.
constexpr std::string_view kBiased = "gpt-oss";

/// Whether an op takes experts as transposed; none for other ops.
std::optional<bool> transposes(std::string_view op) {
  if (op == "stack(0)" || op == "stack_glu") return false;
  if (op == "stack_turned" || op == "stack_glu_turned") return true;
  return std::nullopt;
}

/// Those of a name's rows that may be meant: square experts do not tell by their shape.
std::vector<const Row*> rows_for(const std::vector<const Row*>& rows, const Tensor& tensor,
                                 const ExpertStacks& stacks) {
  const auto of_biased = [](const Row* row) { return row->dialect == kBiased; };
  const bool as_biased = stacks.biased() && std::ranges::any_of(rows, of_biased);
  std::vector<const Row*> meant;
  std::ranges::copy_if(rows, std::back_inserter(meant),
                       [&](const Row* row) { return of_biased(row) == as_biased; });
  const bool either = meant.size() > 1 && has_square_parts(tensor.shape);
  std::erase_if(meant, [&](const Row* row) {
    const auto way = transposes(row->op);
    return either && way && way != stacks.transposed();
  });
  return meant;
}

std::vector<Reading> readings_of(const Tensor& tensor, const ExpertStacks& stacks,
                                 const LayerNames& names) {
  const std::string spelled_name = names.spelled(bare(tensor.identity.name));
  std::string_view bare_name = spelled_name;
  for (const std::string_view root : kRoots) {
    if (bare_name.starts_with(root)) bare_name.remove_prefix(root.size());
  }
  auto pattern = pattern_of(bare_name);
  std::vector<Reading> readings;
  if (!pattern) return readings;
  see_as_decoder_layer(*pattern);
  const auto rows = index().find(pattern->text);
  if (rows == index().end()) return readings;
  for (const Row* row : rows_for(rows->second, tensor, stacks)) {
    std::vector<std::string> parts = parts_of(*row, *pattern, tensor.shape);
    if (parts.empty()) continue;
    readings.push_back({std::string(row->dialect), std::move(parts), parse_op(row->op)});
  }
  return readings;
}

}  // namespace

Readings dialects(const ExpertStacks& stacks, const LayerNames& names) {
  return [stacks, names](const Tensor& tensor) { return readings_of(tensor, stacks, names); };
}

}  // namespace ttcheck::align
