// SPDX-License-Identifier: Apache-2.0
#include "core/locate/preconditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

#include "core/base/words.hpp"
#include "core/locate/first.hpp"

namespace ttcheck::locate {
namespace {

std::optional<Precondition> parameters(std::span<const TensorResult> results) {
  std::size_t all = 0;
  std::size_t wrong = 0;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const TensorResult& one = results[i];
    if (one.identity.phase != Phase::state || one.kind != Kind::weight) continue;
    ++all;
    if (one.outcome() != Outcome::diverged) continue;
    ++wrong;
    if (!first) first = i;
  }
  if (wrong * 2 <= all) return std::nullopt;
  return Precondition{"initial parameters differ", Code::diverged, *first};
}

/// Looks words up in a table: by its op, or by its module's name.
bool looks_words_up(const TensorResult& result) {
  if (result.trace && result.trace->op == "embedding") return true;
  return has_any(module_of(result.identity), {"embed", "wte"});
}

/// A record of the words themselves, as dumps of named tensors keep it.
bool is_tokens(const TensorResult& result) {
  const std::string_view name = result.identity.name;
  bool named = false;
  for (std::size_t begin = 0; begin < name.size() && !named;) {
    const std::size_t end = std::min(name.find_first_of("./=", begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    named = part == "tokens" || part == "token_ids" || part == "input_ids";
    begin = end + 1;
  }
  return named && result.kind == Kind::output;
}

/// Positions are no part of it, nor what later lookups take: the forward itself computes them.
std::optional<Precondition> batch(std::span<const TensorResult> results) {
  std::string_view first_module, first_embedding;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const TensorResult& one = results[i];
    const Phase phase = one.identity.phase;
    if (phase != Phase::forward && phase != Phase::loss) continue;
    const std::string_view module = module_of(one.identity);
    if (phase == Phase::forward && first_module.empty()) first_module = module;
    if (phase == Phase::forward && first_embedding.empty() && looks_words_up(one)) {
      first_embedding = module;
    }
    const bool taken_in =
        one.kind == Kind::input &&
        (phase == Phase::loss || module == first_module || module == first_embedding);
    if (!(taken_in || is_tokens(one)) || !is_exact(one.dtype)) continue;
    if (one.outcome() == Outcome::diverged) {
      return Precondition{"the batch differs", Code::data_replay, i};
    }
  }
  return std::nullopt;
}

bool above_zero(const std::optional<FactValue>& value) {
  if (!value) return false;
  if (const auto* number = std::get_if<double>(&*value)) return *number > 0;
  const auto* whole = std::get_if<std::int64_t>(&*value);
  return whole != nullptr && *whole > 0;
}

/// `dropout`, `attn.dropout`, `hidden_dropout`, GPT-2's `attn_drop`.
bool is_dropout(const TensorResult& result) {
  if (result.trace && result.trace->op == "dropout") return true;
  std::string_view module = module_of(result.identity);
  module.remove_prefix(std::min(module.rfind('.') + 1, module.size()));
  return module.find("dropout") != std::string_view::npos || module.ends_with("drop");
}

/// Masks that differ leave other places zero; a wrong factor leaves the cosine at 1.
constexpr double kLikeness = 0.99;

std::optional<Precondition> random_numbers(std::span<const TensorResult> results,
                                           std::span<const FactResult> facts) {
  bool on = false;
  bool states_differ = false;
  for (const FactResult& fact : facts) {
    const bool dropout = fact.name.find("dropout") != std::string::npos;
    on = on || (dropout && above_zero(fact.reference) && above_zero(fact.candidate));
    const bool state = fact.name.starts_with("rng");
    states_differ = states_differ || (state && fact.verdict == "differs");
  }
  const auto first = first_diverged(results);
  if (!on || !first || results[*first].identity.phase != Phase::forward) return std::nullopt;
  if (states_differ) return Precondition{"the random state differs", Code::rng_seam, *first};
  const TensorResult& shows = results[*first];
  if (!is_dropout(shows) || shows.kind != Kind::output || shows.metrics.cosine() > kLikeness) {
    return std::nullopt;
  }
  return Precondition{"the dropout masks differ", Code::rng_seam, *first};
}

/// What sets the shapes of a model's tensors, and how many there are.
constexpr auto kOfShape = std::to_array<std::string_view>(
    {"model.layers", "model.hidden", "model.heads", "model.kv_heads", "model.head_dim", "model.ffn",
     "model.experts", "model.expert_ffn", "model.q_lora_rank", "model.kv_lora_rank"});

}  // namespace

std::optional<std::string> other_model(std::span<const FactResult> facts) {
  for (const std::string_view name : kOfShape) {
    const auto found = std::ranges::find(facts, name, &FactResult::name);
    if (found == facts.end() || found->verdict != "differs") continue;
    if (!found->reference || !found->candidate || !found->assumed.empty()) continue;
    return fmt::format("the models differ: {} is {} and {}", name, to_string(*found->reference),
                       to_string(*found->candidate));
  }
  return std::nullopt;
}

std::optional<Precondition> failed_precondition(std::span<const TensorResult> results,
                                                std::span<const FactResult> facts) {
  if (auto failed = parameters(results)) return failed;
  if (auto failed = batch(results)) return failed;
  return random_numbers(results, facts);
}

}  // namespace ttcheck::locate
