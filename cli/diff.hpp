#pragma once
// `ttcheck diff REFERENCE CANDIDATE`: compare two runs, steps, checkpoints, files.

#include <span>

#include "cli/options.hpp"
#include "cli/step_diff.hpp"
#include "cli/steps.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// A verdict that knows its command and the two runs, and nothing else yet.
Verdict head_of(const Run& reference, const Run& candidate, const Options& options);

/// Compares these steps, in order, until a signal comes.
void diff_steps(std::span<const StepPair> pairs, DiffContext& context, Verdict& verdict);

/// What all the steps come to: bytes read, outcome, reason.
void conclude_runs(DiffContext& context, Verdict& verdict);

/// Compares two runs that are open, `align` as align_options has it; either may be compared again.
/// Throws Error.
Verdict diff(const Run& reference, const Run& candidate, const Options& options,
             const align::AlignOptions& align);

/// Opens what the words of the command name, and compares. Throws Error when nothing can be said.
Verdict diff(const Options& options);

}  // namespace ttcheck::cli
