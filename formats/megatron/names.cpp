// SPDX-License-Identifier: Apache-2.0
#include "formats/megatron/names.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "core/base/checked.hpp"
#include "formats/torch/state.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kParallel = "module.";
constexpr std::string_view kLocalExperts = ".experts.local_experts.";
/// Experts in one module: the number follows the kind.
constexpr std::array<std::string_view, 4> kGrouped = {
    ".experts.linear_fc1.weight", ".experts.linear_fc1.bias", ".experts.linear_fc2.weight",
    ".experts.linear_fc2.bias"};

struct Tie {
  std::string_view copy;
  std::string_view embedding;
};
/// What the last stage calls its copy of the embedding (models/common, legacy module.py).
constexpr std::array kTies = {
    Tie{"output_layer.weight", "embedding.word_embeddings.weight"},
    Tie{"language_model.output_layer.weight", "language_model.embedding.word_embeddings.weight"},
    Tie{"word_embeddings_for_head.weight", "language_model.embedding.word_embeddings.weight"},
    Tie{"word_embeddings.weight", "language_model.embedding.word_embeddings.weight"},
};

/// A number within a name.
struct Numbered {
  std::size_t begin = 0, size = 0;
  std::int64_t value = 0;
};

std::optional<Numbered> number_at(std::string_view name, std::size_t begin) {
  Numbered found{begin, 0, 0};
  const char* const first = name.data() + begin;
  const auto [end, error] = std::from_chars(first, name.data() + name.size(), found.value);
  if (error != std::errc{} || found.value < 0 || end == first) return std::nullopt;
  found.size = static_cast<std::size_t>(end - first);
  const bool whole = begin + found.size == name.size() || name[begin + found.size] == '.';
  return whole ? std::optional(found) : std::nullopt;
}

std::optional<Numbered> layer_number(std::string_view name) {
  if (name.starts_with("mtp.") || name.find(".mtp.") != std::string_view::npos) return std::nullopt;
  constexpr std::string_view kLayers = "layers.";
  for (std::size_t at = name.find(kLayers); at != std::string_view::npos;
       at = name.find(kLayers, at + 1)) {
    if (at != 0 && name[at - 1] != '.') continue;
    if (const auto number = number_at(name, at + kLayers.size())) return number;
  }
  return std::nullopt;
}

std::optional<Numbered> expert_number(std::string_view name) {
  if (const std::size_t at = name.find(kLocalExperts); at != std::string_view::npos) {
    return number_at(name, at + kLocalExperts.size());
  }
  for (const std::string_view grouped : kGrouped) {
    const std::size_t at = name.find(grouped);
    if (at != std::string_view::npos) return number_at(name, at + grouped.size());
  }
  return std::nullopt;
}

void count_on(std::string& name, const std::optional<Numbered>& number, std::int64_t first) {
  if (!number || first == 0) return;
  name.replace(number->begin, number->size, fmt::format("{}", checked_add(number->value, first)));
}

}  // namespace

std::string plain_megatron_name(std::string name) {
  name = without_wrappers(std::move(name));
  while (name.starts_with(kParallel)) name.erase(0, kParallel.size());
  return name;
}

std::optional<std::int64_t> layer_of_name(std::string_view plain) {
  const auto number = layer_number(plain);
  return number ? std::optional(number->value) : std::nullopt;
}

std::optional<std::int64_t> expert_of_name(std::string_view plain) {
  const auto number = expert_number(plain);
  return number ? std::optional(number->value) : std::nullopt;
}

std::string global_megatron_name(std::string_view plain, const ChunkPlace& place) {
  std::string name(plain);
  if (place.tied_head) {
    for (const Tie& tie : kTies) {
      if (name == tie.copy) return std::string(tie.embedding);
    }
  }
  count_on(name, layer_number(name), place.first_layer);
  count_on(name, expert_number(name), place.first_expert);
  return name;
}

bool is_expert_name(std::string_view name) {
  return name.find(".experts.") != std::string_view::npos;
}

}  // namespace ttcheck::formats
