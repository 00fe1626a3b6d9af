// SPDX-License-Identifier: Apache-2.0
#include "core/noise/update_length.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/model/fact.hpp"

namespace ttcheck::noise {
namespace {

using Numbers = std::vector<std::pair<std::string, double>>;

/// That an optimizer of this name is stated, at a learning rate of 0.1.
std::vector<Fact> facts_of(const std::string& optimizer, const Numbers& numbers) {
  std::vector<Fact> facts = {{"optimizer.name", optimizer, FactUse::compared, {}},
                             {"optimizer.lr", 0.1, FactUse::compared, {}}};
  for (const auto& [name, value] : numbers) {
    facts.push_back({"optimizer." + name, value, FactUse::compared, {}});
  }
  return facts;
}

/// Of two runs that both state this.
std::optional<UpdateLength> length_of(const std::string& optimizer, const Numbers& numbers = {}) {
  const std::vector<Fact> facts = facts_of(optimizer, numbers);
  StepRecords step{};
  step.reference_facts = step.candidate_facts = facts;
  return longest_update(step, Carried{});
}

double new_part_of(const std::string& optimizer, const Numbers& numbers = {}) {
  const std::vector<Fact> facts = facts_of(optimizer, numbers);
  StepRecords step{};
  step.reference_facts = step.candidate_facts = facts;
  return new_part(step);
}

TEST_CASE("how far one update moves an element, by the optimizer") {
  const auto most = [](const auto&... words) {
    const auto length = length_of(words...);
    return length ? length->most : -1;
  };
  CHECK(most("AdamW") == doctest::Approx(0.1 * 0.1 / std::sqrt(1e-3)));
  CHECK(most("AdamW", Numbers{{"betas.0", 0.9}, {"betas.1", 0.9}}) == doctest::Approx(0.1));
  CHECK(most("Lion") == doctest::Approx(0.1));
  CHECK(most("RMSprop") == doctest::Approx(1));
  CHECK(most("RMSprop", Numbers{{"alpha", 0.96}, {"momentum", 0.5}}) == doctest::Approx(1));
  CHECK(most("RMSprop", Numbers{{"alpha", 1}}) == -1);
  CHECK(most("RMSprop", Numbers{{"momentum", 1}}) == -1);
}

TEST_CASE("multiples of the gradient, and what no statement bounds") {
  const auto plain = length_of("SGD");
  REQUIRE(plain);
  CHECK(plain->most == 0);
  CHECK(plain->times == doctest::Approx(0.1));
  const auto heavy = length_of("SGD", {{"momentum", 0.9}});
  REQUIRE(heavy);
  CHECK(heavy->times == doctest::Approx(1));
  CHECK(!length_of("SGD", {{"momentum", 1}}));
  CHECK(!length_of("Adafactor"));  // nor do its parameters tell, of which there are none
}

TEST_CASE("RMSprop repeats an update by its momentum, others do not") {
  CHECK(new_part_of("RMSprop", {{"momentum", 0.75}}) == 0.25);
  CHECK(new_part_of("RMSprop") == 1);
  CHECK(new_part_of("RMSprop", {{"momentum", 1}}) == 1);
  CHECK(new_part_of("SGD", {{"momentum", 0.75}}) == 1);
  CHECK(new_part_of("AdamW") == 1);
  StepRecords step{};
  const std::vector<Fact> left = facts_of("RMSprop", {{"momentum", 0.75}});
  const std::vector<Fact> right = facts_of("RMSprop", {{"momentum", 0.5}});
  step.reference_facts = left;
  step.candidate_facts = right;
  CHECK(new_part(step) == 0.25);
  step.candidate_facts = {};
  CHECK(new_part(step) == 1);  // one that states none
}

}  // namespace
}  // namespace ttcheck::noise
