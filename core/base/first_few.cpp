// SPDX-License-Identifier: Apache-2.0
#include "core/base/first_few.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ttcheck {

std::string first_few(std::span<const std::string> names, std::size_t most) {
  const auto first = names.first(std::min(names.size(), most));
  const std::string text = fmt::format("{}", fmt::join(first, ", "));
  if (names.size() == first.size()) return text;
  return fmt::format("{} and {} more", text, names.size() - first.size());
}

}  // namespace ttcheck
