// SPDX-License-Identifier: Apache-2.0
#include "reports/name_groups.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/base/first_few.hpp"
#include "core/model/name_number.hpp"
#include "reports/escape.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

constexpr std::size_t kFew = 3;  ///< names that are spelled out

/// Names of one stem: "model.layers." of "model.layers.3.mlp.weight".
struct NameGroup {
  std::string_view stem;
  std::set<std::int64_t> numbers;
  std::vector<std::string_view> names;

  std::string words() const {
    if (names.size() <= kFew) {
      std::string list;
      for (const std::string_view name : names) {
        list += (list.empty() ? "" : ", ") + terminal_text(name);
      }
      return list;
    }
    const std::string list = folded(std::vector(numbers.begin(), numbers.end()));
    return fmt::format("{}{}.** ({})", terminal_text(stem),
                       numbers.size() == 1 ? list : "{" + list + "}", thousands(std::ssize(names)));
  }
};

}  // namespace

std::string grouped_names(std::span<const std::string_view> names, std::size_t most) {
  std::vector<NameGroup> groups;
  std::map<std::string_view, std::size_t> by_stem;
  for (const std::string_view name : names) {
    const auto around = around_first_number(name);
    if (!around) {
      groups.push_back({name, {}, {name}});
      continue;
    }
    const auto [at, fresh] = by_stem.try_emplace(around->before, groups.size());
    if (fresh) groups.push_back({around->before, {}, {}});
    groups[at->second].numbers.insert(around->number);
    groups[at->second].names.push_back(name);
  }
  std::vector<std::string> words;
  words.reserve(groups.size());
  for (const NameGroup& group : groups) words.push_back(group.words());
  return first_few(words, most);
}

}  // namespace ttcheck::reports
