// SPDX-License-Identifier: Apache-2.0
#include "core/align/layer_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/align/names.hpp"
#include "core/base/digits.hpp"

namespace ttcheck::align {
namespace {

constexpr std::string_view kLayers = "layers.";
constexpr std::string_view kTiedEmbedding = "tied_modules.embed.";

struct Numbered {
  std::int64_t number;
  std::string_view rest;  ///< behind `<number>.`
};

std::optional<Numbered> numbered(std::string_view name) {
  const std::size_t dot = name.find('.');
  const std::string_view digits = name.substr(0, dot);
  if (dot == std::string_view::npos || !is_number(digits)) return std::nullopt;
  Numbered found{{}, name.substr(dot + 1)};
  const char* end = digits.data() + digits.size();
  if (std::from_chars(digits.data(), end, found.number).ec != std::errc()) return std::nullopt;
  return found;
}

std::optional<Numbered> layer_of(std::string_view name) {
  return name.starts_with(kLayers) ? numbered(name.substr(kLayers.size())) : std::nullopt;
}

/// `weight` of `embed_tokens.weight`; nothing where the name is not that module's.
std::optional<std::string_view> inside(std::string_view name, std::string_view module) {
  if (!name.starts_with(module)) return std::nullopt;
  return name.substr(module.size());
}

bool is_embedding(std::string_view rest) {
  return rest.starts_with("word_embeddings.") || rest.starts_with("position_embeddings.");
}

}  // namespace

LayerNames::LayerNames(std::span<const Tensor> tensors) {
  for (const Tensor& tensor : tensors) {
    if (tensor.identity.phase != Phase::none) continue;
    const std::string name = bare(tensor.identity.name);
    if (const auto layer = layer_of(name); layer && layer->rest.starts_with("eh_proj.")) {
      predicting_.emplace(layer->number, 0);
    }
    const auto place = numbered(name);
    if (!place || !place->rest.starts_with("self_attention.")) continue;
    first_ = std::min(first_.value_or(place->number), place->number);
    last_ = std::max(last_.value_or(place->number), place->number);
  }
  std::int64_t next = 0;
  for (auto& [number, which] : predicting_) which = next++;
}

std::string LayerNames::of_pipeline(std::string_view name, std::int64_t number,
                                    std::string_view rest) const {
  if (is_embedding(rest)) return fmt::format("language_model.embedding.{}", rest);
  if (number >= *first_ && number <= *last_) {
    return fmt::format("language_model.encoder.layers.{}.{}", number - *first_, rest);
  }
  if (number < *first_) return std::string(name);
  if (const auto head = inside(rest, "lm_head.")) {
    return fmt::format("language_model.output_layer.{}", *head);
  }
  if (rest.starts_with("weight") || rest.starts_with("bias")) {
    return fmt::format("language_model.encoder.final_layernorm.{}", rest);
  }
  return std::string(name);
}

std::string LayerNames::spelled(const std::string& bare_name) const {
  if (first_) {
    if (const auto embedding = inside(bare_name, kTiedEmbedding);
        embedding && is_embedding(*embedding)) {
      return fmt::format("language_model.embedding.{}", *embedding);
    }
    if (const auto place = numbered(bare_name)) {
      return of_pipeline(bare_name, place->number, place->rest);
    }
  }
  const auto layer = layer_of(bare_name);
  const auto found = layer ? predicting_.find(layer->number) : predicting_.end();
  if (found == predicting_.end()) return bare_name;
  if (const auto norm = inside(layer->rest, "shared_head.norm.")) {
    return fmt::format("mtp.layers.{}.final_layernorm.{}", found->second, *norm);
  }
  return fmt::format("mtp.layers.{}.{}", found->second, layer->rest);
}

std::vector<std::string> LayerNames::originals(const std::string& bare_name) const {
  const auto layer = layer_of(bare_name);
  if (!layer || !predicting_.contains(layer->number)) return {};
  if (const auto embedding = inside(layer->rest, "embed_tokens.")) {
    return {fmt::format("embed_tokens.{}", *embedding)};
  }
  if (const auto head = inside(layer->rest, "shared_head.head.")) {
    return {fmt::format("lm_head.{}", *head), fmt::format("embed_tokens.{}", *head)};
  }
  return {};
}

}  // namespace ttcheck::align
