// SPDX-License-Identifier: Apache-2.0
#pragma once
// What makes one step good or bad: what a command says.

#include <string_view>

#include "cli/options.hpp"
#include "core/bisect/search.hpp"
#include "core/model/step.hpp"

namespace ttcheck::cli {

/// The errand of run_predicate(), with the step as text.
inline constexpr std::size_t kRunning = 1;

/// Runs the command of --run on a step, its number or `-`; returns how it ended, as waitpid(2)
/// does. Throws Error where the text is none of these, or no process can be started.
int run_predicate(std::string_view step, const Options& options);

/// Marks a step by the command of --run, which gets the step in $1 and TTCHECK_STEP, the runs in
/// TTCHECK_REFERENCE and TTCHECK_CANDIDATE. Its exit code is understood as git bisect does: 0 good,
/// 125 skip, 1 to 127 bad. Throws Error for any other end, and where the shell cannot be started.
bisect::Mark mark_by_command(const StepPair& step, const Options& options);

}  // namespace ttcheck::cli
