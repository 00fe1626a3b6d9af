// SPDX-License-Identifier: Apache-2.0
#pragma once
// `ttcheck report FILE.json`.

#include "cli/options.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// The answer that was kept as JSON, to be rendered again. Throws Error.
Verdict report(const Options& options);

}  // namespace ttcheck::cli
