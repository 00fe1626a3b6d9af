// SPDX-License-Identifier: Apache-2.0
#pragma once
// Findings of diverged tensors get what explains them (core/explain): the step's other tensors are
// handed to the hypotheses, and what that may cost is bounded.

#include <span>

#include "core/diff/met.hpp"

namespace ttcheck::diff {

/// A finding of each diverged result gets its explanations: the strongest one's code and words, and
/// all of them as hypotheses. Bytes are read again for the first few results alone, `first` of them
/// being those in which an error came about; the others are held to what the first pass summed up.
void explain_findings(const MetStep& met, std::span<const TensorResult* const> results,
                      std::span<const char> first, std::span<Finding> findings,
                      const DiffContext& context);

/// Adds explanations to findings of this step that say that copies differ: why the wrong rank's
/// does.
void explain_replicas(const MetStep& met, std::span<const TensorResult> results,
                      const DiffContext& context, Verdict& verdict);

}  // namespace ttcheck::diff
