// SPDX-License-Identifier: Apache-2.0
#include "core/locate/first.hpp"

#include <algorithm>

#include "core/model/axes.hpp"

namespace ttcheck::locate {

std::optional<std::size_t> first_diverged(std::span<const TensorResult> results) {
  const auto found = std::ranges::find(results, Outcome::diverged, &TensorResult::outcome);
  if (found == results.end()) return std::nullopt;
  return static_cast<std::size_t>(found - results.begin());
}

std::optional<Before> right_in(std::span<const TensorResult> results) {
  std::optional<Before> before;
  for (const TensorResult& one : results) {
    const Outcome outcome = one.outcome();
    if (outcome != Outcome::equal && outcome != Outcome::noise) continue;
    if (!before) before.emplace();
    ++(outcome == Outcome::equal ? before->equal : before->noise);
    before->last = one.identity;
  }
  return before;
}

Divergence divergence_of(const TensorResult& result, std::optional<bool> introduced,
                         const Mesh& candidate_mesh) {
  Divergence first;
  first.step = result.step;
  first.phase = result.identity.phase;
  const bool merged = result.identity.phase >= Phase::sync;
  if (result.trace && !merged) first.microbatch = result.identity.microbatch;
  first.op = std::string(module_of(result.identity));
  first.tensor = result.identity.name;
  first.call = result.identity.call;
  first.ranks = result.wrong_ranks;
  first.axes = axes_of(result.wrong_ranks, candidate_mesh);
  const std::int64_t worst = worst_index(result.metrics);
  if (worst >= 0) first.index = unravel(result.shape, worst);
  first.introduced = introduced;
  return first;
}

}  // namespace ttcheck::locate
