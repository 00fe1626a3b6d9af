// SPDX-License-Identifier: Apache-2.0
#include "core/model/manifest.hpp"

#include <fmt/format.h>

#include "core/base/utf8.hpp"

namespace ttcheck {

std::string manifest_name(const Identity& identity) {
  const std::string name = as_utf8(identity.name);
  if (identity.phase == Phase::none) return name;
  return fmt::format("{}:{}:{}:{}", ttcheck::name(identity.phase), identity.microbatch,
                     identity.call, name);
}

std::string_view tensor_of(std::string_view manifest_name) {
  std::string_view rest = manifest_name;
  if (!phase_named(rest.substr(0, rest.find(':')))) return manifest_name;
  for (int part = 0; part < 3; ++part) {
    const std::size_t colon = rest.find(':');
    if (colon == std::string_view::npos) return manifest_name;
    rest.remove_prefix(colon + 1);
  }
  return rest;
}

}  // namespace ttcheck
