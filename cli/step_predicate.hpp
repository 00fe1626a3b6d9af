// SPDX-License-Identifier: Apache-2.0
#pragma once
// What makes one step good or bad: what a command says.

#include "cli/options.hpp"
#include "core/bisect/search.hpp"
#include "core/model/step.hpp"

namespace ttcheck::cli {

/// Marks a step by the command of --run, which gets the step in $1 and TTCHECK_STEP, the runs in
/// TTCHECK_REFERENCE and TTCHECK_CANDIDATE. Its exit code is understood as git bisect does: 0 good,
/// 125 skip, 1 to 127 bad. Throws Error for any other end, and where the shell cannot be started.
bisect::Mark mark_by_command(const StepPair& step, const Options& options);

}  // namespace ttcheck::cli
