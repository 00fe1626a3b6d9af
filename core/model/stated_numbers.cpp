// SPDX-License-Identifier: Apache-2.0
#include "core/model/stated_numbers.hpp"

#include <string_view>

namespace ttcheck {

Numbers numbers_of(const std::vector<Fact>& facts) {
  constexpr std::string_view kModel = "model.";
  Numbers numbers;
  for (const Fact& fact : facts) {
    const auto* value = std::get_if<std::int64_t>(&fact.value);
    if (value != nullptr && !fact.assumed && fact.name.starts_with(kModel)) {
      numbers.emplace(fact.name.substr(kModel.size()), *value);
    }
  }
  return numbers;
}

}  // namespace ttcheck
