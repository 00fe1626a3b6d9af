// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one place that says on stderr why a command line came to nothing.

#include <exception>
#include <string>
#include <vector>

namespace ttcheck::cli {

/// Prints the reason once on stderr, and the JSON object where --json was asked for; returns the
/// exit code: 2 for Usage, Error and want of memory, 70 for what should not have happened.
int report_trouble(const std::vector<std::string>& words, std::exception_ptr trouble);

}  // namespace ttcheck::cli
