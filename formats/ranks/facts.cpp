// SPDX-License-Identifier: Apache-2.0
#include "formats/ranks/facts.hpp"

#include <fmt/format.h>

#include <utility>

namespace ttcheck::formats {

void RankFacts::take(const std::vector<Fact>& facts, std::int32_t rank, std::vector<Fact>& all) {
  for (Fact fact : facts) {
    const auto [first, fresh] = places_.try_emplace(fact.name, all.size());
    if (!fresh) {
      if (to_string(all[first->second].value) == to_string(fact.value)) continue;
      fact.name += fmt::format(".rank.{}", rank);
      places_.try_emplace(fact.name, all.size());
    }
    all.push_back(std::move(fact));
  }
}

}  // namespace ttcheck::formats
