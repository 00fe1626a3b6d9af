// SPDX-License-Identifier: Apache-2.0
#pragma once
// What of a command line this process leaves to one that was set apart before it reads anything.

#include "cli/options.hpp"

namespace ttcheck::cli {

/// Sets apart who writes what these options name and runs the command of --run, and takes from this
/// process what is not reading what they name. Where no process can be started it keeps all.
void confine_to(const Options& options);

}  // namespace ttcheck::cli
