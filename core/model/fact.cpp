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

const Fact* find_fact(const std::vector<Fact>& facts, std::string_view name) {
  const auto found = std::ranges::find(facts, name, &Fact::name);
  return found == facts.end() ? nullptr : &*found;
}

}  // namespace ttcheck
