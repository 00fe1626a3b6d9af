// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a command that ends in a Verdict, writes every report that was asked for, and says the exit
// code. Trouble has a report too.

#include "cli/options.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// The sum of 1 (a finding at or above the line, or diverged) and 2 (something was not checked).
int exit_code(const Verdict& verdict, FailOn fail_on);

/// Runs `command`; an Error becomes a verdict that says so, and one line on stderr.
int answer(const Options& options, Verdict (*command)(const Options&));

}  // namespace ttcheck::cli
