// SPDX-License-Identifier: Apache-2.0
#pragma once
// The table of commands. Adding one: a file cli/NAME.cpp and a row in commands.cpp.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.hpp"
#include "cli/options.hpp"

namespace ttcheck::cli {

/// A word that follows the command's name.
struct Argument {
  std::string_view name;  ///< "REFERENCE"
  std::string_view summary;
  bool required = true;
  bool many = false;  ///< of the last: further words are of its kind, too
};

/// A command as somebody would type it, and what it is for.
struct Example {
  std::string_view words, purpose;
};

struct Command {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::span<const Argument> arguments;
  std::span<const FlagGroup> groups;   ///< it takes every flag of these
  std::span<const Example> examples;   ///< the last part of its help
  bool hidden = false;                 ///< not in help and completion
  int (*run)(const Options& options);  ///< returns the exit code; may throw Error or Usage
};

std::span<const Command> commands();
const Command* command_named(std::string_view name);

/// The flags a command takes, in the table's order.
std::vector<const Flag*> flags_of(const Command& command);

/// The words less those that change how the work is done, but not what comes out.
std::vector<std::string> words_that_matter(const std::vector<std::string>& words);

/// Parses the words after the program's name, runs what they ask for, and returns the exit code.
/// Throws what the command throws, and Usage.
int dispatch(const std::vector<std::string>& words);

}  // namespace ttcheck::cli
