// SPDX-License-Identifier: Apache-2.0
#pragma once
// `ttcheck man PAGE` (hidden): the parts of the man pages that repeat the tables, as mdoc.

#include "cli/options.hpp"

namespace ttcheck::cli {

int man(const Options& options);

}  // namespace ttcheck::cli
