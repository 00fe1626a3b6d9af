#include "cli/coarse_masters.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/interrupt.hpp"
#include "core/base/parallel.hpp"
#include "core/compare/grid.hpp"
#include "core/explain/rank_part.hpp"
#include "core/verdict/judge.hpp"

namespace ttcheck::cli {
namespace {

using Pairs = std::unordered_map<Identity, const compare::Pair*, IdentityHash>;

bool may_be_coarse(const TensorResult& result) {
  const bool by_rounding =
      result.limit.kind == LimitKind::model || result.limit.kind == LimitKind::measured;
  return result.kind == Kind::master && result.outcome == Outcome::noise && by_rounding &&
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

void call_diverged(TensorResult& result, Coarse&& coarse, Tally& tally) {
  --tally.outcomes[static_cast<std::size_t>(Outcome::noise)];
  ++tally.outcomes[static_cast<std::size_t>(Outcome::diverged)];
  result.outcome = Outcome::diverged;
  verdict::set_test(result, "grid", result.metrics.rel(), 0);
  result.limit = {};
  result.limit.source = fmt::format("exact: a master of {} values", coarse.grid);
  result.wrong_ranks = std::move(coarse.ranks);
}

}  // namespace

void judge_masters(const MetStep& met, std::span<TensorResult> results, Verdict& verdict) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (may_be_coarse(results[i])) open.push_back(i);
  }
  if (open.empty()) return;
  Pairs pairs;
  for (const compare::Pair& pair : met.work.pairs) {
    const bool plain = !pair.mapped() && readable(*pair.reference) && readable(*pair.candidate);
    if (plain) pairs.emplace(pair.reference->identity, &pair);
  }
  std::vector<std::optional<Coarse>> found(open.size());
  parallel_for(open.size(), [&](std::size_t n) {
    const auto pair = pairs.find(results[open[n]].identity);
    if (pair == pairs.end()) return;
    try {
      found[n] = coarse_parts(*pair->second);
    } catch (const Error&) {  // read well before, or a signal came: the result stands
    }
  });
  for (std::size_t n = 0; n < open.size(); ++n) {
    if (found[n]) call_diverged(results[open[n]], std::move(*found[n]), verdict.tally);
  }
}

}  // namespace ttcheck::cli
