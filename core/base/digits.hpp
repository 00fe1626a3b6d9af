// SPDX-License-Identifier: Apache-2.0
#pragma once
// Digits of ASCII, whatever the locale is.

#include <algorithm>
#include <string_view>

namespace ttcheck {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// True of digits alone, of at least one.
constexpr bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

}  // namespace ttcheck
