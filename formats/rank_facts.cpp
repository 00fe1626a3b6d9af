#include "formats/rank_facts.hpp"

#include <fmt/format.h>

#include <utility>

namespace ttcheck::formats {

void RankFacts::take(const std::vector<Fact>& facts, std::int32_t rank, State& state) {
  for (Fact fact : facts) {
    const auto [first, fresh] = places_.try_emplace(fact.name, state.facts.size());
    if (!fresh) {
      if (to_string(state.facts[first->second].value) == to_string(fact.value)) continue;
      fact.name += fmt::format(".rank.{}", rank);
      places_.try_emplace(fact.name, state.facts.size());
    }
    state.facts.push_back(std::move(fact));
  }
}

}  // namespace ttcheck::formats
