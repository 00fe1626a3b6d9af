// SPDX-License-Identifier: Apache-2.0
#pragma once
// Globs over dotted names: `*` stays within a part, `**` crosses parts and may match nothing
// (`**.a` also matches `a`), `{a,b}` is either (alternatives may hold wildcards and braces),
// `{name}` captures an integer, a backslash takes the next character literally.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ttcheck {

/// What a match found: integers by capture name, text by wildcard in order of appearance.
struct GlobMatch {
  std::map<std::string, std::int64_t, std::less<>> captures;
  std::vector<std::string> wildcards;
};

/// Compiled once, matched often. Matching takes time linear in pattern x name; no recursion.
/// Throws Error where that product is beyond any use.
class Glob {
 public:
  /// Throws Error (with the column in its message) on an unclosed brace, a trailing backslash, a
  /// capture that is no name or is there twice.
  /// `separator` is the character that `*` does not cross.
  explicit Glob(std::string_view pattern, char separator = '.');

  std::optional<GlobMatch> match(std::string_view name) const;
  bool matches(std::string_view name) const { return match(name).has_value(); }

  /// The wildcards in the pattern; a match has as many unless alternatives hold some.
  std::size_t wildcard_count() const;

 private:
  enum class Step : std::uint8_t { text, star, star_star, capture, split, end };
  struct Token {
    Step step = Step::text;
    std::string text;               ///< literal, or the capture's name
    std::vector<std::size_t> next;  ///< tokens that may follow, the preferred one first
  };
  class Compiler;
  class Search;

  std::vector<Token> tokens_;  ///< a graph without cycles; the last is the end
  std::size_t start_ = 0;
  char separator_;
};

/// The glob that matches this name alone.
std::string literal_glob(std::string_view name);

/// The one name that a glob without wildcards, braces and captures matches; nothing for others.
std::optional<std::string> literal_of(std::string_view glob);

}  // namespace ttcheck
