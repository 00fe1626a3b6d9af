#pragma once
// Globs over dotted names: `*` stays within a part, `**` crosses parts and may match nothing,
// `{a,b}` is either, `{name}` captures an integer, a backslash takes the next character literally.

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
class Glob {
 public:
  /// Throws Error (with the column in its message) on an unclosed brace or a trailing backslash.
  /// `separator` is the character that `*` does not cross.
  explicit Glob(std::string_view pattern, char separator = '.');

  std::optional<GlobMatch> match(std::string_view name) const;
  bool matches(std::string_view name) const { return match(name).has_value(); }

 private:
  struct Token;
  std::vector<Token> tokens_;
  char separator_;
};

}  // namespace ttcheck
