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

/// Sections by a word that the name holds; the first that fits.
constexpr auto kSections = std::to_array<Word>({{"embed_out", 4},
                                                {"embed", 0},
                                                {"wte", 0},
                                                {"wpe", 0},
                                                {"lm_head", 4},
                                                {"output_layer", 4},
                                                {"score", 4},
                                                {"classifier", 4},
                                                {"final_layernorm", 2},
                                                {"final_norm", 2},
                                                {"final_layer_norm", 2},
                                                {"ln_f", 2},
                                                {"norm_f", 2},
                                                {"model.norm", 2},
                                                {"head", 4},
                                                {"output", 4},
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
                                             {"down", 9},
                                             {"fc2", 9},
                                             {"mlp", 8}});

/// What the text is by the words in it; behind all of them where it has none.
std::int32_t lookup(std::span<const Word> words, std::string_view text) {
  const auto found = std::ranges::find_if(
      words, [&](const Word& word) { return text.find(word.first) != std::string_view::npos; });
  return found == words.end() ? std::numeric_limits<std::int32_t>::max() : found->second;
}

}  // namespace

ModelPlace model_place(const Identity& identity, Kind kind) {
  const std::string_view name = identity.name;
  ModelPlace place;
  place.kind = static_cast<std::int32_t>(kind);
  if (const auto number = first_number(name)) {
    const bool predicting = name.find("mtp.layers.") != std::string_view::npos;
    place.section = predicting ? 3 : 1;
    place.layer = number->first;
    place.part = lookup(kParts, number->second);
  } else {
    place.section = lookup(kSections, name);
  }
  return place;
}

}  // namespace ttcheck::align
