#include "cli/as_noise.hpp"

#include <cstddef>

namespace ttcheck::cli {

bool is_open_to_noise(const TensorResult& result) {
  const LimitKind kind = result.limit.kind;
  return result.outcome == Outcome::diverged &&
         (kind == LimitKind::model || kind == LimitKind::measured) && result.test != "replica" &&
         result.metrics.non_finite_disagree == 0 && result.metrics.taken_out == 0;
}

void count_as_noise(TensorResult& result, Verdict& verdict) {
  auto& outcomes = verdict.tally.outcomes;
  --outcomes[static_cast<std::size_t>(Outcome::diverged)];
  ++outcomes[static_cast<std::size_t>(Outcome::noise)];
  result.outcome = Outcome::noise;
  result.wrong_ranks.clear();
  result.places = nullptr;
}

}  // namespace ttcheck::cli
