#include "core/model/identity.hpp"

namespace ttcheck {

std::optional<Phase> phase_named(std::string_view word) {
  for (std::size_t i = 1; i < kPhases.size(); ++i) {
    if (kPhases[i] == word) return static_cast<Phase>(i);
  }
  return std::nullopt;
}

std::string_view module_of(const Identity& identity) {
  if (identity.phase == Phase::none) return identity.name;
  return std::string_view(identity.name).substr(0, identity.name.rfind('/'));
}

}  // namespace ttcheck
