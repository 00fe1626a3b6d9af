#pragma once
// `ttcheck show REFERENCE TENSOR CANDIDATE`: one tensor of two runs, judged as `diff` judges it.

#include "cli/options.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// Of several steps the first in which it is beyond its limit, else the first in which it differs,
/// else the newest; of several records of a step likewise. Other tensors are read only where the
/// limit depends on them. Throws Error.
Verdict show_pair(const Options& options);

}  // namespace ttcheck::cli
