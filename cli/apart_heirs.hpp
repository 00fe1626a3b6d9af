#pragma once
// What elements that were set apart (cli/noise_updates) make of the records behind them: an update
// that took another way by chance is felt by every op that its parameter goes into.

#include <span>

#include "cli/meet_step.hpp"
#include "cli/step_diff.hpp"

namespace ttcheck::cli {

/// Behind a step that left parameters apart by chance (`context.apart`), diverged results become
/// noise where their op, recomputed from its own inputs, is right, and nothing that went into it
/// diverged; a note says how many. `results` are of one step of two traces, in causal order. False
/// where there is none.
bool settle_heirs(const MetStep& met, std::span<TensorResult> results, DiffContext& context,
                  Verdict& verdict);

}  // namespace ttcheck::cli
