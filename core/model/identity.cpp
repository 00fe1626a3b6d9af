// SPDX-License-Identifier: Apache-2.0
#include "core/model/identity.hpp"

#include "core/base/name_map.hpp"

namespace ttcheck {

std::optional<Phase> phase_named(std::string_view word) {
  for (std::size_t i = 1; i < kPhases.size(); ++i) {
    if (kPhases[i] == word) return static_cast<Phase>(i);
  }
  return std::nullopt;
}

std::size_t IdentityHash::operator()(const Identity& identity) const {
  const auto rest =
      (static_cast<std::uint64_t>(identity.phase) << 56) ^
      (static_cast<std::uint64_t>(static_cast<std::uint32_t>(identity.microbatch)) << 24) ^
      static_cast<std::uint32_t>(identity.call);
  return NameHash{}(identity.name) ^ (rest * 0x9e3779b97f4a7c15);
}

std::string_view module_of(const Identity& identity) {
  if (identity.phase == Phase::none) return identity.name;
  const std::string_view name = identity.name;
  for (const std::string_view what : {" outputs", " inputs."}) {
    if (const std::size_t at = name.find(what); at != std::string_view::npos) {
      return name.substr(0, at);
    }
  }
  return name.substr(0, name.rfind('/'));
}

std::pair<Phase, std::string_view> input_identity(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    if (const auto phase = phase_named(text.substr(0, colon)))
      return {*phase, text.substr(colon + 1)};
  }
  return {Phase::none, text};
}

}  // namespace ttcheck
