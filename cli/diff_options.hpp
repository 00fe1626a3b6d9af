// SPDX-License-Identifier: Apache-2.0
#pragma once
// What was typed, as the rooms of a diff take it.

#include "cli/options.hpp"
#include "core/diff/options.hpp"

namespace ttcheck::cli {

/// Map files are read; talk on stderr and the next command are handed in. Throws Error.
diff::DiffOptions diff_options(const Options& options);

}  // namespace ttcheck::cli
