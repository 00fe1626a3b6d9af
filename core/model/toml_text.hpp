// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a TOML text must not hold before toml++ is given it.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ttcheck {

struct TomlFault {
  std::size_t line = 1, column = 1;  ///< in bytes
  std::string what;
};

/// The first of what toml++ is not safe from; nothing of all else that it refuses itself:
/// * a key of more than 256 parts, which it walks by recursion that its limit of nesting does not
///   count;
/// * a character beyond ASCII where TOML has none: outside of quotes and comments, or behind a
///   backslash. Its tables of blanks promise the compiler more than is so;
/// * quotes, brackets and = where none may stand: it reads on behind them in other ways than this
///   scan does.
std::optional<TomlFault> toml_fault(std::string_view text);

}  // namespace ttcheck
