#pragma once
// What makes one step good or bad: what a comparison found in it, or what a command says.

#include "cli/options.hpp"
#include "cli/steps.hpp"
#include "core/locate/bisect.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// By --bad, of a step's whole comparison. `skip` where it says neither: not comparable, and
/// nothing bad seen.
locate::Mark mark_of(const Verdict& verdict, Predicate predicate);

/// By --run: the command gets the step in $1 and TTCHECK_STEP, the runs in TTCHECK_REFERENCE and
/// TTCHECK_CANDIDATE. Its exit code is understood as git bisect does: 0 good, 125 skip, 1 to 127
/// bad. Throws Error for any other end, and where the shell cannot be started.
locate::Mark mark_by_command(const StepPair& step, const Options& options);

}  // namespace ttcheck::cli
