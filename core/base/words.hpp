// SPDX-License-Identifier: Apache-2.0
#pragma once
// Words in names.

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace ttcheck {

/// True where one of the words stands anywhere in the name.
inline bool has_any(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

}  // namespace ttcheck
