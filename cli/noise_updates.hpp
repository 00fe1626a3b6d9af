#pragma once
// Differences that come of updates whose gradient was noise (core/compare/unsettled), and what
// carries them on.

#include <span>

#include "cli/meet_step.hpp"

namespace ttcheck::cli {

/// Results that diverged only so become noise, and one note says how many. A parameter's update may
/// differ by twice the longest step of an Adam-like optimizer, from where it stood; its `state` in
/// later steps by what it differed by, and so may what its own op puts out, if it is a bias.
/// Remembers in `context.carried` what later steps need. `results` are of this step, in order.
/// Nothing is done where limits are not the model's, or the learning rate is not known.
void settle_noise_updates(const MetStep& met, std::span<TensorResult> results,
                          const StepPair& steps, DiffContext& context, Verdict& verdict);

}  // namespace ttcheck::cli
