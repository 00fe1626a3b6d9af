// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one definition of every flag: parser, help, man pages and completion read this table.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"

namespace ttcheck::cli {

/// Which commands take a flag: a command takes all flags of its groups.
enum class FlagGroup : std::uint8_t {
  input,
  judging,
  searching,
  hashing,
  measuring,
  repeating,
  excusing,
  picking,
  report,
  running
};

struct Flag {
  std::string_view name;  ///< "--layout", "-q"
  std::string_view
      value;  ///< what follows, for help; alternatives as "a|b|c"; empty: nothing follows
  std::string_view summary;  ///< one line
  FlagGroup group;
  /// Checks the value's form and stores it. Throws Usage that says what was expected.
  void (*set)(Options& options, const std::string& value);
};

std::span<const Flag> flags();

/// Heading of a group in help and man pages.
std::string_view title(FlagGroup group);

/// The fixed alternatives of a value ("auto|always|never"); for --out the names of the reports with
/// `=` after them; empty where anything may follow.
std::vector<std::string> alternatives(const Flag& flag);

}  // namespace ttcheck::cli
