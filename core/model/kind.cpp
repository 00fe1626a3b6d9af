// SPDX-License-Identifier: Apache-2.0
#include "core/model/kind.hpp"

namespace ttcheck {

std::optional<Kind> kind_of_record(std::string_view word) {
  for (const KindInfo& row : kKinds) {
    if (!word.empty() && row.trace == word) return row.kind;
  }
  return std::nullopt;
}

Kind kind_of_name(std::string_view canonical) {
  const std::size_t at = canonical.rfind('@');
  if (at == std::string_view::npos) return Kind::weight;
  const std::string_view suffix = canonical.substr(at);
  for (const KindInfo& row : kKinds) {
    if (row.checkpoint == suffix) return row.kind;
  }
  return Kind::other;
}

}  // namespace ttcheck
