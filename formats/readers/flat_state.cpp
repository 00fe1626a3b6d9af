// SPDX-License-Identifier: Apache-2.0
#include "formats/readers/flat_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

}  // namespace

void name_flat_state(std::vector<Record>& records) {
  const auto is_state = [](const Record& record) {
    return record.identity.phase == Phase::none && below_root(record.identity.name).has_value();
  };
  if (std::ranges::none_of(records, is_state)) return;
  NameSet names;
  for (const Record& record : records) names.insert(record.identity.name);
  for (Record& record : records) {
    if (!is_state(record)) continue;
    const std::string_view rest = *below_root(record.identity.name);
    for (std::size_t dot = rest.rfind('.'); dot != std::string_view::npos && dot > 0;
         dot = rest.rfind('.', dot - 1)) {
      const auto container = std::ranges::find_if(kContainers, [&](std::string_view one) {
        return names.contains(fmt::format("{}{}", one, rest.substr(0, dot)));
      });
      if (container == kContainers.end()) continue;
      std::string name =
          fmt::format("{}{}@{}", *container, rest.substr(0, dot), rest.substr(dot + 1));
      if (!names.insert(name).second) break;
      record.identity.name = std::move(name);
      record.kind = kind_of_name(record.identity.name);
      break;
    }
  }
}

}  // namespace ttcheck::formats
