#include "formats/rank_facts.hpp"

#include <fmt/format.h>

namespace ttcheck::formats {

void RankFacts::take(const std::vector<Fact>& facts, std::int32_t rank) {
  for (Fact fact : facts) {
    const auto [first, fresh] = places_.try_emplace(fact.name, facts_.size());
    if (!fresh) {
      if (to_string(facts_[first->second].value) == to_string(fact.value)) continue;
      fact.name += fmt::format(".rank.{}", rank);
      places_.try_emplace(fact.name, facts_.size());
    }
    facts_.push_back(std::move(fact));
  }
}

}  // namespace ttcheck::formats
