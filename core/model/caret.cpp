// SPDX-License-Identifier: Apache-2.0
#include "core/model/caret.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ttcheck {
namespace {

constexpr std::size_t kWidth = 96;

}  // namespace

Error caret_error(std::string_view what, std::string_view line, std::size_t at) {
  at = std::min(at, line.size());
  const std::size_t begin = at < kWidth ? 0 : at - kWidth / 2;
  std::string shown(line.substr(begin, kWidth));
  std::replace(shown.begin(), shown.end(), '\t', ' ');
  std::replace(shown.begin(), shown.end(), '\n', ' ');
  return Error(fmt::format("{}, column {}", what, at + 1))
      .showing(fmt::format("  {}\n  {:>{}}", shown, "^", at - begin + 1));
}

}  // namespace ttcheck
