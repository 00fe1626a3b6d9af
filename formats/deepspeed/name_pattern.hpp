// SPDX-License-Identifier: Apache-2.0
#pragma once
// The regular expressions by which DeepSpeed names parameters (`universal_checkpoint_info`), as
// Python's re.match reads them: literals, `.`, `\d \w \s`, escaped punctuation, classes, each with
// `* + ?`, and `^`, `$` at the ends. Groups, alternatives and counts are none of them.

#include <bitset>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ttcheck::formats {

class DeepspeedPattern {
 public:
  /// Parses an expression; none outside the subset, of more than 1024 bytes, or with more than 63
  /// atoms behind its literal beginning.
  static std::optional<DeepspeedPattern> parse(std::string_view text);

  /// True where the expression matches from the start of the name, to its end or not.
  bool matches(std::string_view name) const;

  /// True where it only compares bytes.
  bool literal() const { return atoms_.empty(); }

 private:
  struct Atom {
    std::bitset<256> bytes;
    bool optional = false, repeated = false;
  };

  std::string prefix_;       ///< bytes that every such name begins with
  std::vector<Atom> atoms_;  ///< what follows
  bool any_optional_ = false;
  bool to_end_ = false;
};

}  // namespace ttcheck::formats
