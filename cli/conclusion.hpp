#pragma once
// The results of one step -> preconditions, first divergence, findings.

#include <span>

#include "cli/step_diff.hpp"

namespace ttcheck::cli {

/// `results` are this step's, in the order in which a difference comes about.
void conclude_step(std::span<const TensorResult> results, bool trace, DiffContext& context,
                   Verdict& verdict);

}  // namespace ttcheck::cli
