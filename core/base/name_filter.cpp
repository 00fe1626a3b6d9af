#include "core/base/name_filter.hpp"

#include <algorithm>

namespace ttcheck {

NameFilter::NameFilter(const std::vector<std::string>& include,
                       const std::vector<std::string>& exclude)
    : include_(include.begin(), include.end()), exclude_(exclude.begin(), exclude.end()) {
  for (const std::string& pattern : exclude) rules_.push_back("--exclude " + pattern);
  rules_.emplace_back("--include");
}

std::optional<std::size_t> NameFilter::left_out_by(std::string_view name) const {
  const auto matches = [&](const Glob& glob) { return glob.matches(name); };
  const auto found = std::ranges::find_if(exclude_, matches);
  const bool missed = !include_.empty() && std::ranges::none_of(include_, matches);
  if (found == exclude_.end() && !missed) return std::nullopt;
  return static_cast<std::size_t>(found - exclude_.begin());
}

}  // namespace ttcheck
