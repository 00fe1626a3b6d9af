// SPDX-License-Identifier: Apache-2.0
#pragma once
// `ttcheck info RUN`: what is this?

#include "cli/options.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// Throws Error when nothing can be said.
Verdict info(const Options& options);

}  // namespace ttcheck::cli
