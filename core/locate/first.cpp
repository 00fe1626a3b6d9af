#include "core/locate/first.hpp"

#include <algorithm>

#include "core/model/axes.hpp"

namespace ttcheck::locate {
namespace {

/// `backward:lm_head/grad_output.0` -> phase and name; without a phase, none.
std::pair<Phase, std::string_view> input_identity(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    if (const auto phase = phase_named(text.substr(0, colon)))
      return {*phase, text.substr(colon + 1)};
  }
  return {Phase::none, text};
}

std::optional<bool> introduced(const TensorResult& result, std::span<const TensorResult> results) {
  if (!result.trace || result.trace->inputs.empty()) return std::nullopt;
  bool known = false;
  for (const std::string& input : result.trace->inputs) {
    const auto [phase, name] = input_identity(input);
    for (const TensorResult& other : results) {
      if (&other == &result) break;  // only what came before it
      if (other.step != result.step || other.identity.name != name) continue;
      if (phase != Phase::none && other.identity.phase != phase) continue;
      known = true;
      if (other.outcome == Outcome::diverged) return false;
    }
  }
  return known ? std::optional(true) : std::nullopt;
}

}  // namespace

std::optional<std::size_t> first_diverged(std::span<const TensorResult> results) {
  const auto found = std::ranges::find(results, Outcome::diverged, &TensorResult::outcome);
  if (found == results.end()) return std::nullopt;
  return static_cast<std::size_t>(found - results.begin());
}

Divergence divergence_of(const TensorResult& result, std::span<const TensorResult> results,
                         const Mesh& candidate_mesh) {
  Divergence first;
  first.step = result.step;
  first.phase = result.identity.phase;
  const bool merged = result.trace != nullptr && result.identity.phase >= Phase::sync;
  if (result.trace && !merged) first.microbatch = result.identity.microbatch;
  first.op = std::string(module_of(result.identity));
  first.tensor = result.identity.name;
  first.ranks = result.wrong_ranks;
  first.axes = axes_of(result.wrong_ranks, candidate_mesh);
  const std::int64_t worst = worst_index(result.metrics);
  if (worst >= 0) first.index = unravel(result.shape, worst);
  first.introduced = introduced(result, results);
  return first;
}

}  // namespace ttcheck::locate
