// SPDX-License-Identifier: Apache-2.0
#include "formats/dcp/dotted_names.hpp"

#include <algorithm>
#include <utility>

namespace ttcheck::formats {

DottedNames::DottedNames(std::vector<std::string_view> names) : names_(std::move(names)) {
  std::ranges::sort(names_);
}

/// Part by part, each with the dot in front of it: those that begin as the key does lie side by
/// side, the one that is all of it first.
std::vector<std::size_t> DottedNames::lengths_in(std::string_view key) const {
  std::vector<std::size_t> lengths;
  auto begin = names_.begin(), end = names_.end();
  if (begin != end && begin->empty()) lengths.push_back(0);
  for (std::size_t at = 0; at < key.size() && begin != end;) {
    const std::size_t dot = std::min(key.find('.', at + 1), key.size());
    const std::string_view part = key.substr(at, dot - at);
    const auto here = [&](std::string_view name) { return name.substr(at, part.size()); };
    const auto alike = std::ranges::equal_range(begin, end, part, {}, here);
    begin = alike.begin();
    end = alike.end();
    at = dot;
    if (begin != end && begin->size() == at) lengths.push_back(at);
  }
  return lengths;
}

}  // namespace ttcheck::formats
