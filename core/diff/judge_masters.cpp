// SPDX-License-Identifier: Apache-2.0
#include "core/diff/judge_masters.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/interrupted.hpp"
#include "core/base/parallel.hpp"
#include "core/compare/grid.hpp"
#include "core/explain/rank_part.hpp"
#include "core/verdict/judge.hpp"

namespace ttcheck::diff {
namespace {

bool may_be_coarse(const TensorResult& result) {
  const bool by_rounding =
      result.limit.kind == LimitKind::model || result.limit.kind == LimitKind::measured;
  return result.kind == Kind::master && result.outcome() == Outcome::noise && by_rounding &&
         result.metrics.count >= compare::kGridLeast;
}

bool readable(const Tensor& tensor) {
  return tensor.kind == Kind::master && tensor.stored && tensor.reduce == Reduce::none;
}

/// Which ranks hold coarse parts, and of which grid; no ranks where the format has none.
struct Coarse {
  std::string_view grid;
  std::vector<std::int32_t> ranks;
};

std::optional<Coarse> coarse_parts(const compare::Pair& pair) {
  const std::vector<std::int32_t> ranks = ranks_of(*pair.candidate);
  if (ranks.empty()) {
    const auto grid = compare::coarser_grid(*pair.reference, *pair.candidate, interrupted);
    return grid ? std::optional<Coarse>({grid->name, {}}) : std::nullopt;
  }
  std::optional<Coarse> found;
  for (const std::int32_t rank : ranks) {
    const auto part = explain::part_of_rank(*pair.candidate, rank);
    if (!part) continue;
    const auto grid = compare::coarser_grid(*pair.reference, *part, interrupted);
    if (!grid) continue;
    if (!found) found.emplace(Coarse{grid->name, {}});
    found->ranks.push_back(rank);
  }
  return found;
}

void call_diverged(TensorResult& result, const compare::Pair& pair, Coarse&& coarse) {
  const double rel = result.metrics.rel();
  result = verdict::as_wrong_by_itself(*pair.reference, *pair.candidate, std::move(result),
                                       Test::grid, rel, 0, coarse.ranks);
  result.limit = {};
  result.limit.source = fmt::format("exact: a master of {} values", coarse.grid);
}

}  // namespace

void judge_masters(const MetStep& met, std::span<TensorResult> results) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (may_be_coarse(results[i])) open.push_back(i);
  }
  if (open.empty()) return;
  std::vector<std::optional<Coarse>> found(open.size());
  parallel_for(open.size(), [&](std::size_t n) {
    const compare::Pair* const pair = met.compared(results[open[n]]);
    if (pair == nullptr || pair->mapped()) return;
    if (!readable(*pair->reference) || !readable(*pair->candidate)) return;
    try {
      found[n] = coarse_parts(*pair);
    } catch (const Error&) {  // read well before, or a signal came: the result stands
    }
  });
  for (std::size_t n = 0; n < open.size(); ++n) {
    if (found[n])
      call_diverged(results[open[n]], *met.compared(results[open[n]]), std::move(*found[n]));
  }
}

}  // namespace ttcheck::diff
