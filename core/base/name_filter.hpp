// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which names a user's --include and --exclude leave.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/glob.hpp"

namespace ttcheck {

/// Globs over canonical names.
struct NameGlobs {
  std::vector<std::string> include, exclude;

  bool any() const { return !include.empty() || !exclude.empty(); }
};

class NameFilter {
 public:
  /// No `include`: all names. Throws Error on a glob that is none.
  explicit NameFilter(const NameGlobs& globs);

  /// What a name may be left out by: `--exclude PATTERN` of each, at last `--include`.
  const std::vector<std::string>& rules() const { return rules_; }

  /// The first of the rules that leaves the name out; nothing of one that stays.
  std::optional<std::size_t> left_out_by(std::string_view name) const;

  /// The first of the rules that leaves out a thing with two names: it is left out where an
  /// --exclude names it by either, and where no --include does by either.
  std::optional<std::size_t> left_out_by(std::string_view one, std::string_view other) const;

  bool admits(std::string_view name) const { return !left_out_by(name); }

 private:
  std::vector<Glob> include_, exclude_;
  std::vector<std::string> rules_;
};

}  // namespace ttcheck
