// SPDX-License-Identifier: Apache-2.0
#include "core/model/layout.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace ttcheck {

std::optional<Coordinates> match_path(const Layout& layout, std::string_view path,
                                      std::optional<std::int64_t>* step) {
  if (layout.pattern.empty()) return std::nullopt;
  const auto match = Glob(layout.pattern, '/').match(path);
  if (!match) return std::nullopt;
  Coordinates at;
  std::optional<std::int64_t> rank;
  for (const auto& [name, value] : match->captures) {
    if (name == "step") {
      if (step != nullptr) *step = value;
    } else if (name == "rank") {
      rank = value;
    } else {
      at[name] = value;
    }
  }
  try {
    if (!rank) rank = layout.mesh.rank_at(at);
    if (rank) at.merge(layout.mesh.coordinates(*rank));
  } catch (const Error& error) {
    throw error.at({std::string(path), std::nullopt, {}});
  }
  return at;
}

const TensorRule* rule_for(const Layout& layout, std::string_view global) {
  for (const TensorRule& rule : layout.tensors) {
    if (rule.glob ? rule.glob->matches(global) : Glob(rule.match).matches(global)) return &rule;
  }
  return nullptr;
}

}  // namespace ttcheck
