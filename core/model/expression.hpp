// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whole-number expressions of rename rules: + - * / and parentheses, names, calls.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace ttcheck {

/// What the names of an expression mean. Both throw Error for a name they do not know.
struct Names {
  std::function<std::int64_t(std::string_view name)> value;
  std::function<std::int64_t(std::string_view name, std::span<const std::int64_t> arguments)> call;
};

/// The value of `text`, `/` rounding toward zero. Throws LineError at the place of bad syntax,
/// Error on overflow and division by zero. No recursion.
std::int64_t evaluate(std::string_view text, const Names& names);

}  // namespace ttcheck
