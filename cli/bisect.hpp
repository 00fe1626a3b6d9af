// SPDX-License-Identifier: Apache-2.0
#pragma once
// `ttcheck bisect REFERENCE CANDIDATE`: the first bad step, or the first bad op of a step, reading
// as little as possible.

#include "cli/options.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// Throws Error when nothing can be said.
Verdict bisect(const Options& options);

}  // namespace ttcheck::cli
