// SPDX-License-Identifier: Apache-2.0
#include "core/diff/judge_collectives.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/base/interrupted.hpp"
#include "core/model/axes.hpp"
#include "core/recompute/collective.hpp"
#include "core/recompute/conservation.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::diff {
namespace {

using OpState = recompute::Recomputed::State;

constexpr double kStepBudget = 5e8;  // elements read
constexpr std::size_t kMostFindings = 16;

/// "tp (ranks 0, 1)": along which axes the ranks differ, as far as the mesh has them.
std::string group_words(std::span<const std::int32_t> ranks, const Mesh& mesh) {
  const std::string all = fmt::format("ranks {}", fmt::join(ranks, ", "));
  const auto inside = [&](std::int32_t rank) { return rank >= 0 && rank < mesh.world_size(); };
  if (!std::ranges::all_of(ranks, inside)) return all;
  std::vector<std::string_view> axes;
  for (const Axis& axis : mesh.axes) {
    const auto place = [&](std::int32_t rank) {
      return coordinate(mesh.coordinates(rank), axis.name);
    };
    const bool same =
        std::ranges::all_of(ranks, [&](auto rank) { return place(rank) == place(ranks.front()); });
    if (!same) axes.push_back(axis.name);
  }
  return axes.empty() ? all : fmt::format("{} ({})", fmt::join(axes, ", "), all);
}

recompute::Recomputed told(const recompute::Collective& collective,
                           const recompute::Conservation& found) {
  recompute::Recomputed told;
  told.state = found.broken() ? OpState::wrong : OpState::right;
  told.op = fmt::format("{} of {}", collective.op, collective.given->identity.name);
  told.error = found.error;
  told.limit = found.limit;
  told.ranks = found.ranks;
  told.group = found.group;
  told.collective = true;
  const bool of_all =
      element_count(collective.output.shape) == element_count(collective.gotten->shape);
  if (of_all) told.index = found.index;
  told.inputs = {collective.given->identity};
  return told;
}

/// The finding on a collective whose values went into nothing that both sides have.
Finding finding_of(const recompute::Collective& collective, const recompute::Recomputed& wrong,
                   double ratio, std::optional<std::int64_t> step, const Mesh& mesh) {
  const Tensor& gotten = *collective.gotten;
  Finding finding;
  finding.code = Code::conservation;
  finding.step = step;
  finding.phase = gotten.identity.phase;
  finding.op = module_of(gotten.identity);
  finding.tensor = finding.candidate_tensor = gotten.identity.name;
  finding.ranks = wrong.ranks;
  finding.axes = axes_of(wrong.ranks, mesh);
  finding.where = gotten.pieces.front().where();
  if (wrong.index >= 0) finding.index = unravel(gotten.shape, wrong.index);
  finding.error = wrong.error;
  finding.limit = wrong.limit;
  finding.limit_source = "rounding of its sum";
  finding.ratio = ratio;
  finding.message = collective_words(wrong, gotten.shape, mesh).substr(2);
  return finding;
}

/// Diverged results by the candidate's tensor.
std::unordered_map<const Tensor*, std::size_t> diverged_by_tensor(
    const MetStep& met, std::span<const TensorResult> results) {
  std::unordered_map<const Tensor*, std::size_t> found;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const compare::Pair* const pair = met.compared(results[i]);
    const bool diverged = results[i].outcome() == Outcome::diverged;
    if (diverged && pair != nullptr) found.emplace(pair->candidate, i);
  }
  return found;
}

}  // namespace

std::vector<Finding> judge_collectives(const MetStep& met, std::span<const TensorResult> results,
                                       const DiffContext& context,
                                       std::span<recompute::Recomputed> found) {
  std::vector<Finding> apart;
  const Mesh& mesh = context.candidate.mesh;
  const auto collectives = recompute::collectives_of(met.candidate(), mesh);
  if (collectives.empty()) return apart;
  const auto diverged = diverged_by_tensor(met, results);
  double budget = kStepBudget;
  for (const recompute::Collective& one : collectives) {
    const auto test = recompute::conservation_of(one, budget, [] { return interrupted() != 0; });
    if (!test) continue;
    const recompute::Recomputed words = told(one, *test);
    const auto own = diverged.find(one.gotten), result = diverged.find(one.result);
    const bool is_own = own != diverged.end(), is_result = result != diverged.end();
    if (is_own && found[own->second].state != OpState::wrong) found[own->second] = words;
    if (!test->broken()) continue;
    if (is_result && is_own) {
      found[result->second].repeats = results[own->second].identity;
    } else if (is_result) {
      found[result->second] = words;
    } else if (!is_own && apart.size() < kMostFindings) {
      apart.push_back(finding_of(one, words, test->ratio, results.front().step, mesh));
    }
  }
  return apart;
}

std::string collective_words(const recompute::Recomputed& wrong, const Shape& shape,
                             const Mesh& mesh) {
  std::string words = fmt::format(
      "; {} over {}: what came out is not what its inputs give, off by "
      "{:.3g}, rounding explains {:.3g}",
      wrong.op, group_words(wrong.group, mesh), wrong.error, wrong.limit);
  if (wrong.index >= 0) {
    words += fmt::format(", worst at {}", verdict::to_string(unravel(shape, wrong.index)));
  }
  return words + fmt::format(", on rank{} {}", wrong.ranks.size() == 1 ? "" : "s",
                             fmt::join(wrong.ranks, ", "));
}

void blame_collectives(std::span<const TensorResult> results,
                       std::span<const recompute::Recomputed> found, const DiffContext& context,
                       Verdict& verdict) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const TensorResult& result = results[i];
    const bool wrong = found[i].collective && found[i].state == OpState::wrong;
    if (!wrong || result.test != Test::replica) continue;
    for (Finding& finding : verdict.findings) {
      const bool same = finding.code == Code::replica_mismatch && finding.step == result.step &&
                        finding.phase == result.identity.phase &&
                        finding.tensor == result.identity.name;
      if (!same) continue;
      finding.code = Code::conservation;
      finding.message += collective_words(found[i], result.shape, context.candidate.mesh);
    }
  }
}

}  // namespace ttcheck::diff
