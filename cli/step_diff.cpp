#include "cli/step_diff.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "cli/conclusion.hpp"
#include "cli/judging.hpp"
#include "cli/meet_step.hpp"
#include "core/base/parallel.hpp"
#include "core/base/until_exit.hpp"

namespace ttcheck::cli {
namespace {

/// Results in the order of their pairs: those by hash were judged before the others.
void sort_results(std::span<TensorResult> results, const align::Alignment& alignment,
                  std::span<const Tensor> reference) {
  std::unordered_map<Identity, std::size_t, IdentityHash> places;
  for (const align::PairIndex& pair : alignment.pairs) {
    places.try_emplace(reference[pair.reference].identity, places.size());
  }
  std::ranges::stable_sort(results, {},
                           [&](const TensorResult& result) { return places.at(result.identity); });
}

}  // namespace

void diff_step(const StepPair& steps, DiffContext& context, Verdict& verdict) {
  const std::size_t before = verdict.tensors.size();
  std::optional<MetStep> met = meet_step(steps, context, verdict);
  if (!met) return;
  const bool hashes = verdict.tensors.size() > before;
  judge_all(met->work, met->trace, steps, context, verdict);
  const auto results = std::span(verdict.tensors).subspan(before);
  if (hashes) sort_results(results, met->alignment, met->sides->front().assembly.tensors);
  conclude_step(results, met->trace, context, verdict);
  if (context.last_step) return keep_until_exit(met->sides);
  parallel_for(met->sides->size(), [&](std::size_t i) { met->sides->at(i).assembly = {}; });
}

}  // namespace ttcheck::cli
