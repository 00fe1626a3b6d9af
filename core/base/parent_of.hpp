// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of modules, which stand within each other by dots.

#include <algorithm>
#include <string_view>

namespace ttcheck {

/// `layers.0.attn` of `layers.0.attn.k`; a name without a dot is its own. A part of `name`.
constexpr std::string_view parent_of(std::string_view name) {
  return name.substr(0, std::min(name.rfind('.'), name.size()));
}

}  // namespace ttcheck
