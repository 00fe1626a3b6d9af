#pragma once
// The results of one step -> preconditions, first divergence, findings.

#include <span>

#include "core/diff/met.hpp"

namespace ttcheck::diff {

/// `results` are this step's, in the order in which a difference comes about; what is wrong though
/// within its limit becomes diverged.
void locate_step(const MetStep& met, std::span<TensorResult> results, DiffContext& context,
                 Verdict& verdict);

}  // namespace ttcheck::diff
