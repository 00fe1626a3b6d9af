#pragma once
// All that clean runs make of gradients that are zero but for round-off, in one step.

#include <span>

#include "cli/meet_step.hpp"
#include "cli/step_diff.hpp"

namespace ttcheck::cli {

/// Results of this step, in order, that diverged only by it become noise. False where nothing had
/// to be settled.
bool settle_noise(const MetStep& met, std::span<TensorResult> results, const StepPair& steps,
                  DiffContext& context, Verdict& verdict);

}  // namespace ttcheck::cli
