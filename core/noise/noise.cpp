#include "core/noise/noise.hpp"

#include <algorithm>

#include "core/noise/calls.hpp"
#include "core/noise/excuse.hpp"
#include "core/noise/gradients.hpp"
#include "core/noise/statistics.hpp"
#include "core/noise/terms.hpp"
#include "core/noise/updates.hpp"

namespace ttcheck::noise {

bool settle(const StepRecords& step, std::span<TensorResult> results, Carried& carried,
            std::vector<Finding>& notes) {
  if (!step.trace) return false;
  const Terms terms(step, results, carried);
  const bool gradients = settle_gradients(step, results, terms);
  const bool calls = settle_calls(step, results, terms, carried, notes);
  const bool statistics = settle_statistics(step, results, terms, carried, notes);
  const bool updates = settle_updates(step, results, terms, carried, notes);
  return gradients || calls || statistics || updates;
}

}  // namespace ttcheck::noise
