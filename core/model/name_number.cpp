// SPDX-License-Identifier: Apache-2.0
#include "core/model/name_number.hpp"

#include <algorithm>

namespace ttcheck {

std::optional<AroundNumber> around_first_number(std::string_view name) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && name[i] != '.') continue;
    const std::string_view before = name.substr(0, begin), part = name.substr(begin, i - begin);
    begin = i + 1;
    const bool number = !part.empty() && part.size() < 10 &&
                        std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
    if (!number) continue;
    std::int64_t value = 0;
    for (const char c : part) value = value * 10 + (c - '0');
    return AroundNumber{before, value, name.substr(i)};
  }
  return std::nullopt;
}

std::optional<std::pair<std::int64_t, std::string_view>> first_number(std::string_view name) {
  const auto around = around_first_number(name);
  if (!around) return std::nullopt;
  return std::pair{around->number, around->rest};
}

std::string_view layer_of(std::string_view name) {
  const auto number = first_number(name);
  if (!number || number->second.empty()) return {};
  return name.substr(0, name.size() - number->second.size());
}

}  // namespace ttcheck
