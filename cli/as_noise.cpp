#include "cli/as_noise.hpp"

#include <cstddef>

namespace ttcheck::cli {

void count_as_noise(TensorResult& result, Verdict& verdict) {
  auto& outcomes = verdict.tally.outcomes;
  --outcomes[static_cast<std::size_t>(Outcome::diverged)];
  ++outcomes[static_cast<std::size_t>(Outcome::noise)];
  result.outcome = Outcome::noise;
  result.wrong_ranks.clear();
  result.places = nullptr;
}

}  // namespace ttcheck::cli
