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

/// Of two runs that both state this optimizer, at a learning rate of 0.1.
std::optional<UpdateLength> length_of(const std::string& optimizer, const Numbers& numbers = {}) {
  std::vector<Fact> facts = {{"optimizer.name", optimizer, FactUse::compared, {}},
                             {"optimizer.lr", 0.1, FactUse::compared, {}}};
  for (const auto& [name, value] : numbers) {
    facts.push_back({"optimizer." + name, value, FactUse::compared, {}});
  }
  StepRecords step{};
  step.reference_facts = step.candidate_facts = facts;
  return longest_update(step, Carried{});
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

}  // namespace
}  // namespace ttcheck::noise
