#include "cli/settle_noise.hpp"

#include "cli/noise_calls.hpp"
#include "cli/noise_gradients.hpp"
#include "cli/noise_statistics.hpp"
#include "cli/noise_updates.hpp"

namespace ttcheck::cli {

bool settle_noise(const MetStep& met, std::span<TensorResult> results, const StepPair& steps,
                  DiffContext& context, Verdict& verdict) {
  const bool gradients = settle_noise_gradients(met, results, verdict);
  const bool calls = settle_noise_calls(met, results, context, verdict);
  const bool statistics = settle_noise_statistics(met, results, steps, context, verdict);
  const bool updates = settle_noise_updates(met, results, steps, context, verdict);
  return gradients || calls || statistics || updates;
}

}  // namespace ttcheck::cli
