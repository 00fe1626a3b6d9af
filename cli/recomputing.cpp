#include "cli/recomputing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "cli/collectives.hpp"
#include "cli/interrupt.hpp"
#include "core/locate/origins.hpp"
#include "core/model/axes.hpp"
#include "core/recompute/recompute.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::cli {
namespace {

using OpState = recompute::Recomputed::State;

/// Diverged results: those that introduced their error as far as inputs tell, then the others.
std::vector<std::size_t> in_turn(std::span<const TensorResult> results) {
  const std::vector<locate::Origin> origins = locate::origins_of(results);
  std::vector<std::size_t> turn;
  for (const bool introduced : {true, false}) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      const bool wrong = results[i].outcome == Outcome::diverged && results[i].test != "replica";
      if (wrong && origins[i].introduced.value_or(false) == introduced) turn.push_back(i);
    }
  }
  return turn;
}

/// Codes that say that, where or in which form the values differ, and not what made them so.
bool weaker(Code code, bool than_sums) {
  constexpr std::array kForms = {Code::chunk,  Code::tile,        Code::scale,
                                 Code::offset, Code::permutation, Code::residual_is};
  if (code == Code::diverged || code == Code::localised) return true;
  return than_sums && std::ranges::find(kForms, code) != kForms.end();
}

}  // namespace

void recompute_step(const MetStep& met, std::span<const TensorResult> results, DiffContext& context,
                    std::span<recompute::Recomputed> found) {
  const std::vector<std::size_t> turn = in_turn(results);
  if (turn.empty()) return;
  std::unordered_map<Identity, const compare::Pair*, IdentityHash> pairs;
  for (const compare::Pair& pair : met.work.pairs) {
    if (!pair.mapped()) pairs.emplace(pair.reference->identity, &pair);
  }
  // of what has no bytes the reason is told
  std::unordered_map<Identity, std::pair<const Tensor*, const Tensor*>, IdentityHash> unstored;
  for (const align::PairIndex& pair : met.alignment.pairs) {
    const Tensor& left = met.sides->front().assembly.tensors[pair.reference];
    const Tensor& right = met.sides->back().assembly.tensors[pair.candidate];
    if (!left.stored || !right.stored) unstored.emplace(left.identity, std::pair(&left, &right));
  }
  const recompute::Graph reference(met.sides->front().assembly.tensors, context.parameters[0],
                                   met.step);
  const recompute::Graph candidate(met.sides->back().assembly.tensors, context.parameters[1],
                                   met.step);
  recompute::Recompute recompute(reference, candidate, [] { return interrupted() != 0; });
  for (const std::size_t i : turn) {
    const auto pair = pairs.find(results[i].identity);
    const auto bare = unstored.find(results[i].identity);
    if (bare != unstored.end())
      found[i] = recompute.judge(*bare->second.first, *bare->second.second, -1);
    if (pair == pairs.end() || found[i].collective || found[i].repeats) continue;
    if (found[i].state != OpState::unknown) continue;
    found[i] = recompute.judge(*pair->second->reference, *pair->second->candidate,
                               worst_index(results[i].metrics));
  }
}

std::string recomputed_words(const recompute::Recomputed& recomputed, const Shape& shape,
                             const Mesh& mesh) {
  if (recomputed.state == OpState::unknown) return "";
  if (recomputed.collective && recomputed.state == OpState::wrong) {
    return collective_words(recomputed, shape, mesh);
  }
  const std::string_view some = recomputed.sampled ? ", some of its rows" : "";
  if (recomputed.state == OpState::right) {
    return fmt::format("; recomputed from its own inputs ({}{}) it is right: what went in differs",
                       recomputed.op, some);
  }
  std::string words =
      fmt::format("; recomputed from its own inputs ({}{}) it is wrong by {:.3g}, limit {:.3g}",
                  recomputed.op, some, recomputed.error, recomputed.limit);
  if (recomputed.index >= 0) {
    words += fmt::format(", worst at {}", verdict::to_string(unravel(shape, recomputed.index)));
  }
  if (recomputed.turned_bit) {
    words += fmt::format(", right but for bit {} of that one element", *recomputed.turned_bit);
  }
  if (!recomputed.ranks.empty()) {
    words += fmt::format(", on rank {}", fmt::join(recomputed.ranks, ", "));
  }
  if (!recomputed.remark.empty()) words += "; it states " + recomputed.remark;
  return words;
}

std::string unknown_words(const recompute::Recomputed& recomputed) {
  if (recomputed.state != OpState::unknown) return "";
  std::string words;
  if (!recomputed.remark.empty()) words += "; it states " + recomputed.remark;
  if (!recomputed.reason.empty()) words += "; not recomputed: " + recomputed.reason;
  return words;
}

void blame_op(const recompute::Recomputed& recomputed, const Mesh& candidate_mesh,
              Finding& finding) {
  if (recomputed.state != OpState::wrong) return;
  if (!weaker(finding.code, recomputed.collective || recomputed.norm)) return;
  finding.code = recomputed.collective   ? Code::conservation
                 : recomputed.norm       ? Code::norm_mismatch
                 : recomputed.turned_bit ? Code::bit_flip
                                         : Code::op_wrong;
  if (recomputed.ranks.empty()) return;
  finding.ranks = recomputed.ranks;
  finding.axes = axes_of(recomputed.ranks, candidate_mesh);
}

void keep_parameters(MetStep& met, DiffContext& context) {
  for (std::size_t side = 0; side < met.sides->size(); ++side) {
    for (Tensor& tensor : met.sides->at(side).assembly.tensors) {
      const Phase phase = tensor.identity.phase;
      const bool stands = phase == Phase::state || phase == Phase::optimizer;
      const bool weight = tensor.kind == Kind::weight && stands;
      if (!weight && tensor.kind != Kind::main_grad && tensor.kind != Kind::grad) continue;
      std::string name = tensor.identity.name;
      context.parameters[side].insert_or_assign(std::move(name),
                                                Earlier{std::move(tensor), met.step});
    }
  }
}

}  // namespace ttcheck::cli
