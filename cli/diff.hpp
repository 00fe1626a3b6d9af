// SPDX-License-Identifier: Apache-2.0
#pragma once
// `ttcheck diff REFERENCE CANDIDATE`: compare two runs, steps, checkpoints, files.

#include "cli/options.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// Opens what the words of the command name, and compares. Throws Error when nothing can be said.
Verdict diff(const Options& options);

}  // namespace ttcheck::cli
