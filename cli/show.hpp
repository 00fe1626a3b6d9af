// SPDX-License-Identifier: Apache-2.0
#pragma once
// `ttcheck show RUN TENSOR [RUN]`: one tensor, alone or held against the other run's.

#include "cli/options.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// Throws Error when nothing can be said.
Verdict show(const Options& options);

}  // namespace ttcheck::cli
