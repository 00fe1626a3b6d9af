#include "core/verdict/tally.hpp"

#include <utility>

namespace ttcheck::verdict {

void count(const TensorResult& result, Tally& tally) {
  ++tally.outcomes[static_cast<std::size_t>(result.outcome)];
  if (result.outcome == Outcome::equal && !result.cast.empty()) ++tally.casts[result.cast];
  if (!result.limit.source.empty()) ++tally.limits[result.limit.source];
  ++tally.rules[result.rule.empty() ? "same" : result.rule];
  if (result.step) tally.steps.insert(*result.step);
}

void add_result(TensorResult&& result, bool keep_equal, Verdict& verdict) {
  count(result, verdict.tally);
  if (result.outcome == Outcome::equal && !keep_equal) return;
  verdict.tensors.push_back(std::move(result));
}

}  // namespace ttcheck::verdict
