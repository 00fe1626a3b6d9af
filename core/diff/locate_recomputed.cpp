// SPDX-License-Identifier: Apache-2.0
#include "core/diff/locate_recomputed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/base/interrupted.hpp"
#include "core/diff/judge_collectives.hpp"
#include "core/locate/origins.hpp"
#include "core/model/axes.hpp"
#include "core/recompute/recompute.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::diff {
namespace {

using OpState = recompute::Recomputed::State;

/// Diverged results: those that introduced their error as far as inputs tell, then the others.
std::vector<std::size_t> in_turn(std::span<const TensorResult> results) {
  const std::vector<locate::Origin> origins = locate::origins_of(results);
  std::vector<std::size_t> turn;
  for (const bool introduced : {true, false}) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      const bool wrong =
          results[i].outcome() == Outcome::diverged && results[i].test != Test::replica;
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

recompute::Recomputed recompute_result(const MetStep& met, const TensorResult& result,
                                       recompute::Recompute& recompute) {
  const auto& [reference, candidate, compared] = met.pairs[result.pair];
  const bool stored = reference->stored && candidate->stored;
  if (stored && (compared == nullptr || compared->mapped())) return {};
  return stored ? recompute.judge(*compared->reference, *compared->candidate,
                                  worst_index(result.metrics))
                : recompute.judge(*reference, *candidate, -1);  // the reason is told
}

void recompute_step(const MetStep& met, std::span<const TensorResult> results,
                    std::span<recompute::Recomputed> found) {
  const std::vector<std::size_t> turn = in_turn(results);
  if (turn.empty()) return;
  recompute::Recompute recompute(met.graphs->reference, met.graphs->candidate,
                                 [] { return interrupted() != 0; });
  for (const std::size_t i : turn) {
    if (found[i].collective || found[i].repeats || found[i].state != OpState::unknown) continue;
    found[i] = recompute_result(met, results[i], recompute);
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
    words += fmt::format(", on rank{} {}", recomputed.ranks.size() == 1 ? "" : "s",
                         fmt::join(recomputed.ranks, ", "));
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

}  // namespace ttcheck::diff
