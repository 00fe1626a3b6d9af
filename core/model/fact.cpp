// SPDX-License-Identifier: Apache-2.0
#include "core/model/fact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

namespace ttcheck {

std::string to_string(const FactValue& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string>) {
          return held;
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

std::optional<double> number_of(const FactValue& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return std::nullopt;
}

const Fact* find_fact(std::span<const Fact> facts, std::string_view name) {
  const auto found = std::ranges::find(facts, name, &Fact::name);
  return found == facts.end() ? nullptr : &*found;
}

}  // namespace ttcheck
