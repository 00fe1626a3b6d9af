// SPDX-License-Identifier: Apache-2.0
#pragma once
// `ttcheck explain CODE`.

#include "cli/options.hpp"

namespace ttcheck::cli {

int explain(const Options& options);

}  // namespace ttcheck::cli
