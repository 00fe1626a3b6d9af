#pragma once
// `ttcheck diff REFERENCE CANDIDATE`: compare two runs, steps, checkpoints, files.

#include "cli/options.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// Throws Error when nothing can be said.
Verdict diff(const Options& options);

}  // namespace ttcheck::cli
