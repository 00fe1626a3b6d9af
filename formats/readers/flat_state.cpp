// SPDX-License-Identifier: Apache-2.0
// A name may have as many dots as a file has bytes, so the parameter is not looked for at each of
// them. The names below a container are sorted, and each knows the longest other one that it
// begins with. What a text begins with is the last name that is not behind it in this order, or
// one that this begins with, and so on; of these as much is right as both have in common.

#include "formats/readers/flat_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/name_map.hpp"
#include "core/model/kind.hpp"

namespace ttcheck::formats {
namespace {

constexpr auto kRoots =
    std::to_array<std::string_view>({"optimizer.state.", "optim.state.", "opt.state."});

/// Below which the same state has its parameters, where the optimizer's names are without it.
constexpr auto kContainers =
    std::to_array<std::string_view>({"", "model.", "module.", "state_dict.", "model_state_dict."});

/// What follows the root; nothing of other names.
std::optional<std::string_view> below_root(std::string_view name) {
  for (const std::string_view root : kRoots) {
    if (name.starts_with(root)) return name.substr(root.size());
  }
  return std::nullopt;
}

/// The names below a container, without it.
class NamesBelow {
 public:
  NamesBelow(std::string_view container, const NameSet& names) : container_(container) {
    for (const std::string& name : names) {
      if (name.starts_with(container))
        names_.push_back(std::string_view(name).substr(container.size()));
    }
    std::ranges::sort(names_);
    begins_with_.resize(names_.size(), kNone);
    for (std::size_t i = 1; i < names_.size(); ++i) {
      std::size_t other = i - 1;
      while (other != kNone && !names_[i].starts_with(names_[other])) other = begins_with_[other];
      begins_with_[i] = other;
    }
  }

  std::string_view container() const { return container_; }

  /// The length of the longest name that ends before a dot of `text` and that it begins with; 0:
  /// none.
  std::size_t longest_in(std::string_view text) const {
    const auto behind = std::ranges::upper_bound(names_, text);
    if (behind == names_.begin()) return 0;
    auto at = static_cast<std::size_t>(behind - names_.begin()) - 1;
    const auto common =
        static_cast<std::size_t>(std::ranges::mismatch(names_[at], text).in1 - names_[at].begin());
    for (; at != kNone; at = begins_with_[at]) {
      const std::size_t length = names_[at].size();
      if (length <= common && length < text.size() && text[length] == '.') return length;
    }
    return 0;
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  std::string_view container_;
  std::vector<std::string_view> names_;
  std::vector<std::size_t> begins_with_;  ///< the longest of the others; kNone: none
};

}  // namespace

void name_flat_state(std::vector<Record>& records) {
  const auto is_state = [](const Record& record) {
    return record.identity.phase == Phase::none && below_root(record.identity.name).has_value();
  };
  if (std::ranges::none_of(records, is_state)) return;
  NameSet names;
  for (const Record& record : records) names.insert(record.identity.name);
  std::vector<NamesBelow> below;
  for (const std::string_view container : kContainers) below.emplace_back(container, names);
  for (Record& record : records) {
    if (!is_state(record)) continue;
    const std::string_view rest = *below_root(record.identity.name);
    std::size_t dot = 0;  // behind the parameter's name; where several fit, the longest counts
    std::string_view container;
    for (const NamesBelow& one : below) {
      const std::size_t length = one.longest_in(rest);
      if (length <= dot) continue;
      dot = length;
      container = one.container();
    }
    if (dot == 0) continue;
    std::string name = fmt::format("{}{}@{}", container, rest.substr(0, dot), rest.substr(dot + 1));
    if (!names.insert(name).second) continue;
    record.identity.name = std::move(name);
    record.kind = kind_of_name(record.identity.name);
  }
}

}  // namespace ttcheck::formats
