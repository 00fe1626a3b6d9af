#pragma once
// Which names a user's --include and --exclude leave.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/glob.hpp"

namespace ttcheck {

class NameFilter {
 public:
  /// Globs; no `include`: all names. Throws Error on a glob that is none.
  NameFilter(const std::vector<std::string>& include, const std::vector<std::string>& exclude);

  /// What a name may be left out by: `--exclude PATTERN` of each, at last `--include`.
  const std::vector<std::string>& rules() const { return rules_; }

  /// The first of the rules that leaves the name out; nothing of one that stays.
  std::optional<std::size_t> left_out_by(std::string_view name) const;

  bool admits(std::string_view name) const { return !left_out_by(name); }

 private:
  std::vector<Glob> include_, exclude_;
  std::vector<std::string> rules_;
};

}  // namespace ttcheck
