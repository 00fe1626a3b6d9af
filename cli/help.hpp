// SPDX-License-Identifier: Apache-2.0
#pragma once
// Help texts, put together from the tables.

#include <string>

#include "cli/command.hpp"

namespace ttcheck::cli {

std::string version_line();                      ///< "ttcheck 0.1.0\n"
std::string help();                              ///< of the program
std::string usage_line(const Command& command);  ///< "ttcheck diff [flags] REFERENCE CANDIDATE"
std::string help_of(const Command& command);

}  // namespace ttcheck::cli
