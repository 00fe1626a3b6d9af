// SPDX-License-Identifier: Apache-2.0
#include "formats/hf/parameter_order.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/model/name_number.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kLlama[] = {
    "self_attn.q_proj",
    "self_attn.k_proj",
    "self_attn.v_proj",
    "self_attn.o_proj",
    "self_attn.qkv_proj",
    "self_attn.q_norm",
    "self_attn.k_norm",
    "block_sparse_moe.gate.",
    "block_sparse_moe.experts",
    "mlp.gate.",
    "mlp.experts",
    "mlp.gate_up_proj",
    "mlp.gate_proj",
    "mlp.up_proj",
    "mlp.down_proj",
    "mlp.shared_expert",
    "input_layernorm",
    "post_attention_layernorm",
    "pre_feedforward_layernorm",
    "post_feedforward_layernorm",
};
constexpr std::string_view kGpt2[] = {"ln_1", "attn.c_attn", "attn.c_proj",
                                      "ln_2", "mlp.c_fc",    "mlp.c_proj"};
constexpr std::string_view kNeox[] = {"input_layernorm",           "post_attention_layernorm",
                                      "attention.query_key_value", "attention.dense",
                                      "mlp.dense_h_to_4h",         "mlp.dense_4h_to_h"};
constexpr std::string_view kOpt[] = {"self_attn.k_proj",
                                     "self_attn.v_proj",
                                     "self_attn.q_proj",
                                     "self_attn.out_proj",
                                     "self_attn_layer_norm",
                                     "fc1",
                                     "fc2",
                                     "final_layer_norm"};
constexpr std::string_view kBert[] = {"attention.self.query",
                                      "attention.self.key",
                                      "attention.self.value",
                                      "attention.output.dense",
                                      "attention.output.LayerNorm",
                                      "intermediate.dense",
                                      "output.dense",
                                      "output.LayerNorm"};

struct Family {
  std::string_view sign;  ///< a part of a layer that only these models have
  std::span<const std::string_view> parts;
};

constexpr Family kFamilies[] = {{"attention.query_key_value", kNeox},
                                {"attn.c_attn", kGpt2},
                                {"self_attn.out_proj", kOpt},
                                {"attention.self.query", kBert},
                                {"self_attn.", kLlama}};

/// Outside of layers: those before them, and those behind.
constexpr std::string_view kBefore[] = {"embed_tokens",
                                        "embed_in",
                                        "wte",
                                        "wpe",
                                        "embed_positions",
                                        "embeddings.word_embeddings",
                                        "embeddings.position_embeddings",
                                        "embeddings.token_type_embeddings",
                                        "embeddings.LayerNorm"};
constexpr std::string_view kBehind[] = {
    "final_layer_norm", "ln_f",  "norm",       "pooler", "lm_head",
    "embed_out",        "score", "classifier", "cls"};

/// Smaller is earlier: section, layer, part, expert, what of the part, bias behind weight.
using Place = std::tuple<int, std::int64_t, std::size_t, std::int64_t, std::string_view, bool>;

std::optional<std::size_t> find_part(std::span<const std::string_view> parts,
                                     std::string_view name) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (name.find(parts[i]) != std::string_view::npos) return i;
  }
  return std::nullopt;
}

std::optional<Place> place_in_family(const Family& family, std::string_view name) {
  const bool bias = name.ends_with(".bias");
  std::string_view rest = name;
  const auto layer = first_number(rest);
  if (!layer) {
    if (const auto part = find_part(kBefore, name)) return Place{0, 0, *part, 0, {}, bias};
    if (const auto part = find_part(kBehind, name)) return Place{2, 0, *part, 0, {}, bias};
    return std::nullopt;
  }
  rest = layer->second;
  const auto part = find_part(family.parts, rest);
  if (!part) return std::nullopt;
  const auto expert = first_number(rest);
  if (expert) rest = expert->second;
  rest = rest.substr(0, rest.rfind('.'));
  // gate, up, down of experts and of adapters (lora_A, lora_B) follow the alphabet but for `down`.
  if (rest.ends_with("down_proj")) rest = "~";
  if (rest.ends_with("gate_proj")) rest = "";
  return Place{1, layer->first, *part, expert ? expert->first : 0, rest, bias};
}

}  // namespace

bool sort_as_defined(std::vector<Candidate>& parameters) {
  const auto family = std::ranges::find_if(kFamilies, [&](const Family& one) {
    return std::ranges::any_of(parameters, [&](const Candidate& parameter) {
      return parameter.name.find(one.sign) != std::string::npos;
    });
  });
  if (family == std::end(kFamilies)) return false;
  std::vector<std::pair<Place, std::size_t>> order;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto place = place_in_family(*family, parameters[i].name);
    if (!place) return false;
    order.emplace_back(*place, i);
  }
  std::ranges::sort(order);
  std::vector<Candidate> sorted;
  for (const auto& [place, i] : order) sorted.push_back(parameters[i]);
  parameters = std::move(sorted);
  return true;
}

}  // namespace ttcheck::formats
