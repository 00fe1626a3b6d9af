#include "core/noise/noise.hpp"

#include "core/noise/calls.hpp"
#include "core/noise/gradients.hpp"
#include "core/noise/statistics.hpp"
#include "core/noise/updates.hpp"

namespace ttcheck::noise {

bool settle(const StepRecords& step, std::span<TensorResult> results, Carried& carried,
            std::vector<Finding>& notes) {
  const bool gradients = settle_gradients(step, results);
  const bool calls = settle_calls(step, results, carried, notes);
  const bool statistics = settle_statistics(step, results, carried, notes);
  const bool updates = settle_updates(step, results, carried, notes);
  return gradients || calls || statistics || updates;
}

}  // namespace ttcheck::noise
