// SPDX-License-Identifier: Apache-2.0
#include "core/diff/stored_twice.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "core/base/digits.hpp"
#include "core/base/interrupted.hpp"
#include "core/compare/compare.hpp"

namespace ttcheck::diff {
namespace {

/// Modules that models tie, by the last part of their path: embeddings of tokens and heads, as
/// transformers, Megatron, GPT-NeoX, fairseq and torchtitan name them.
constexpr auto kTied = std::to_array<std::string_view>(
    {"embed_tokens", "word_embeddings", "tok_embeddings", "token_embedding", "tokens_embed", "wte",
     "embed_in", "embed", "embedding", "embeddings", "shared", "lm_head", "output_layer",
     "embed_out", "head", "output", "output_projection", "decoder"});
constexpr std::string_view kSharedModules = "tied_modules.";

/// `a.b` of `a.b.weight@exp_avg`, of `a.b/param.weight`.
std::string_view module_path(const Tensor& tensor) {
  const std::string_view name = tensor.identity.name;
  const std::size_t slash = name.find('/');
  if (slash != std::string_view::npos) return name.substr(0, slash);
  const std::string_view bare = name.substr(0, name.find('@'));
  const std::size_t dot = bare.rfind('.');
  return dot == std::string_view::npos ? bare : bare.substr(0, dot);
}

/// Layers repeat what they are made of: nothing of them is tied.
bool is_in_layer(std::string_view path) {
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('.'));
    if (is_number(part)) return true;
    path.remove_prefix(std::min(path.size(), part.size() + 1));
  }
  return false;
}

bool may_be_tied(const Tensor& tensor) {
  const std::string_view path = module_path(tensor);
  if (path.starts_with(kSharedModules)) return true;
  const std::string_view last = path.substr(path.rfind('.') + 1);
  return tensor.stored && tensor.holes.empty() && !is_in_layer(path) &&
         std::ranges::find(kTied, last) != kTied.end();
}

bool are_alike(const Tensor& tensor, const Tensor& other) {
  return tensor.kind == other.kind && tensor.identity.phase == other.identity.phase &&
         tensor.dtype == other.dtype && tensor.shape == other.shape;
}

/// `cls.predictions.bias` for `cls.predictions.decoder.bias`: a head keeps its bias itself, too.
std::string name_above(const Tensor& tensor) {
  const std::string_view name = tensor.identity.name;
  const std::string_view path = module_path(tensor);
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return "";
  return std::string(path.substr(0, dot)) + std::string(name.substr(path.size()));
}

/// REQUIRES that they are alike. Constants are many things' value; where names say that they are
/// one they are a copy, too.
bool is_copy(const Tensor& tensor, const Tensor& other, bool constants) {
  const compare::Pair pair{&tensor, &other};
  compare::CompareOptions options;
  options.stop = interrupted;
  const auto compared = compare::compare(std::span(&pair, 1), options);
  const Metrics& metrics = compared.front().metrics;
  return compared.front().whole() && metrics.unequal_bits == 0 &&
         (constants || !metrics.reference_constant);
}

}  // namespace

StoredTwice stored_twice(std::span<const Tensor> tensors, std::span<const std::size_t> alone,
                         std::span<const std::size_t> met) {
  StoredTwice found;
  for (const std::size_t i : alone) {
    if (!may_be_tied(tensors[i])) continue;
    const std::string above = name_above(tensors[i]);
    for (const std::size_t other : met) {
      const bool held_above = tensors[other].stored && tensors[other].identity.name == above;
      if (!held_above && !may_be_tied(tensors[other])) continue;
      if (!are_alike(tensors[i], tensors[other])) continue;
      found.others.emplace(i, other);
      if (is_copy(tensors[i], tensors[other], held_above)) found.copies.insert(i);
    }
    if (found.copies.contains(i)) found.others.erase(i);
  }
  return found;
}

}  // namespace ttcheck::diff
