// SPDX-License-Identifier: Apache-2.0
#pragma once
// `ttcheck completion SHELL`: completions for bash, zsh and fish, put together from the tables.

#include <string>

#include "cli/options.hpp"

namespace ttcheck::cli {

/// Throws Usage for a shell it does not know.
std::string completion_for(const std::string& shell);

int completion(const Options& options);

}  // namespace ttcheck::cli
