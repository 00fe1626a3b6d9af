#pragma once
// The results of one step -> preconditions, first divergence, findings.

#include <span>

#include "cli/meet_step.hpp"
#include "cli/step_diff.hpp"

namespace ttcheck::cli {

/// `results` are this step's, in the order in which a difference comes about; what is wrong though
/// within its limit becomes diverged.
void conclude_step(const MetStep& met, std::span<TensorResult> results, DiffContext& context,
                   Verdict& verdict);

}  // namespace ttcheck::cli
