// SPDX-License-Identifier: Apache-2.0
#include "core/base/name_filter.hpp"

#include <algorithm>

namespace ttcheck {

NameFilter::NameFilter(const NameGlobs& globs)
    : include_(globs.include.begin(), globs.include.end()),
      exclude_(globs.exclude.begin(), globs.exclude.end()) {
  for (const std::string& pattern : globs.exclude) rules_.push_back("--exclude " + pattern);
  rules_.emplace_back("--include");
}

std::optional<std::size_t> NameFilter::left_out_by(std::string_view name) const {
  const auto matches = [&](const Glob& glob) { return glob.matches(name); };
  const auto found = std::ranges::find_if(exclude_, matches);
  const bool missed = !include_.empty() && std::ranges::none_of(include_, matches);
  if (found == exclude_.end() && !missed) return std::nullopt;
  return static_cast<std::size_t>(found - exclude_.begin());
}

std::optional<std::size_t> NameFilter::left_out_by(std::string_view one,
                                                   std::string_view other) const {
  const auto by_one = left_out_by(one), by_other = left_out_by(other);
  if (!by_one || !by_other) {
    const auto by = by_one ? by_one : by_other;
    return by && *by < exclude_.size() ? by : std::nullopt;
  }
  return std::min(*by_one, *by_other);
}

}  // namespace ttcheck
