// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command to paste that shows one result from near.

#include <string>
#include <vector>

#include "cli/options.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// `ttcheck show FLAGS -- REFERENCE TENSOR CANDIDATE`, with what tells this record from others of
/// its name and with the flags that say how it was read and judged; from `show`, the whole `diff`.
std::vector<std::string> look_closer(const TensorResult& result, const Options& options,
                                     const std::string& reference, const std::string& candidate);

}  // namespace ttcheck::cli
