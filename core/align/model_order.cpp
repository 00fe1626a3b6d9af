// SPDX-License-Identifier: Apache-2.0
#include "core/align/model_order.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/model/name_number.hpp"

namespace ttcheck::align {
namespace {

using Word = std::pair<std::string_view, std::int32_t>;

constexpr std::int32_t kLast = std::numeric_limits<std::int32_t>::max();

/// Sections by a word that the name holds; the first that fits.
constexpr auto kSections = std::to_array<Word>({{"embed_out", 4},    {"embed", 0},
                                                {"wte", 0},          {"wpe", 0},
                                                {"stem", 0},         {"conv1", 0},
                                                {"bn1", 0},          {"conv_in", 0},
                                                {"_token", 0},       {"conv_norm_out", 2},
                                                {"conv_out", 4},     {"lm_head", 4},
                                                {"output_layer", 4}, {"score", 4},
                                                {"classifier", 4},   {"final_layernorm", 2},
                                                {"final_norm", 2},   {"final_layer_norm", 2},
                                                {"ln_f", 2},         {"norm_f", 2},
                                                {"model.norm", 2},   {"head", 4},
                                                {"fc.", 4},          {"output", 4},
                                                {"norm", 2}});

/// Parts of a layer by a word that the rest of the name holds; the first that fits.
constexpr auto kParts = std::to_array<Word>({{"input_layernorm", 0},
                                             {"input_norm", 0},
                                             {"ln_1", 0},
                                             {"attention_norm", 0},
                                             {"post_attention", 5},
                                             {"post_norm", 5},
                                             {"pre_mlp", 5},
                                             {"ln_2", 5},
                                             {"ffn_norm", 5},
                                             {"q_proj", 1},
                                             {"k_proj", 2},
                                             {"v_proj", 3},
                                             {"qkv", 1},
                                             {"query_key_value", 1},
                                             {"c_attn", 1},
                                             {"o_proj", 4},
                                             {"attn", 4},
                                             {"attention", 4},
                                             {"router", 6},
                                             {"gate", 7},
                                             {"up", 8},
                                             {"fc1", 7},
                                             {"downsample", kLast},
                                             {"down", 9},
                                             {"fc2", 9},
                                             {"mlp", 8}});

/// What the text is by the words in it; behind all of them where it has none.
std::int32_t lookup(std::span<const Word> words, std::string_view text) {
  const auto found = std::ranges::find_if(
      words, [&](const Word& word) { return text.find(word.first) != std::string_view::npos; });
  return found == words.end() ? kLast : found->second;
}

/// Whether what stands in front of the first layers has numbers of its own.
bool is_input(std::string_view before) {
  return before.find("stem") != std::string_view::npos ||
         before.find("embed") != std::string_view::npos;
}

/// The number that a word ends with: the 2 of `layer2`.
std::optional<std::int64_t> number_at_end(std::string_view word) {
  const std::size_t last = word.find_last_not_of("0123456789");
  if (last == std::string_view::npos) return std::nullopt;
  const auto number = first_number(word.substr(last + 1));
  return number ? std::optional(number->first) : std::nullopt;
}

/// The block that a name counts behind its layer, `rest` being what follows that; -1: none.
std::int64_t block_in(std::string_view rest) {
  const auto next = first_number(rest);
  if (!next) return -1;
  std::string_view between = rest.substr(0, rest.size() - next->second.size());
  between = between.substr(0, between.rfind('.'));
  return between.empty() || between.ends_with('s') ? next->first : -1;
}

}  // namespace

ModelPlace model_place(const Identity& identity, Kind kind) {
  const std::string_view name = identity.name;
  ModelPlace place;
  place.kind = static_cast<std::int32_t>(kind);
  const auto number = first_number(name);
  if (!number) {
    place.section = lookup(kSections, name);
    return place;
  }
  const std::string_view rest = number->second;
  const std::string_view before = name.substr(0, name.size() - rest.size());
  const std::string_view list = before.substr(0, std::min(before.rfind('.'), before.size()));
  const bool predicting = name.find("mtp.layers.") != std::string_view::npos;
  place.section = predicting ? 3 : is_input(list) ? 0 : 1;
  const auto counted = number_at_end(list.substr(list.rfind('.') + 1));
  place.layer = counted.value_or(number->first);
  place.block = counted ? number->first : block_in(rest);
  place.part = lookup(kParts, rest);
  return place;
}

}  // namespace ttcheck::align
