// SPDX-License-Identifier: Apache-2.0
#include "formats/readers/group_defaults.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace ttcheck::formats {
namespace {

constexpr std::array<std::string_view, 3> kFalse = {"amsgrad", "maximize", "nesterov"};

/// `optimizer.groups.0.lr.rank.3` is the option `lr` of `optimizer.groups.0.`, of `.rank.3`.
struct Option {
  std::string_view group, name, rank;
};

/// REQUIRES a fact of a group.
Option option_of(std::string_view name) {
  constexpr std::string_view kGroups = ".groups.";
  const std::size_t number = name.find(kGroups) + kGroups.size();
  const std::size_t at = name.find('.', number) + 1;
  const std::size_t end = std::min(name.find('.', at), name.size());
  return {name.substr(0, at), name.substr(at, end - at), name.substr(end)};
}

}  // namespace

void assume_group_options(std::vector<Fact>& facts) {
  std::map<std::pair<std::string, std::string>, std::set<std::string, std::less<>>> stated;
  std::map<std::pair<std::string, std::string>, Where> places;
  for (const Fact& fact : facts) {
    if (fact.source != FactSource::groups) continue;
    const auto [group, name, rank] = option_of(fact.name);
    const std::pair key{std::string(group), std::string(rank)};
    stated[key].emplace(name);
    places.try_emplace(key, fact.where);
  }
  for (const auto& [key, options] : stated) {
    if (!options.contains("lr")) continue;
    for (const std::string_view option : kFalse) {
      if (options.contains(option)) continue;
      facts.push_back({key.first + std::string(option) + key.second, false, FactUse::compared,
                       places.at(key), FactSource::groups, true});
    }
  }
}

}  // namespace ttcheck::formats
