// SPDX-License-Identifier: Apache-2.0
// Options of optimizers that a file does not state.

#include "formats/readers/group_defaults.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace ttcheck::formats {
namespace {

Fact of_group(std::string name, FactValue value) {
  return {std::move(name), std::move(value), FactUse::compared, {}, FactSource::groups};
}

std::vector<std::string> assumed(std::vector<Fact> facts) {
  assume_group_options(facts);
  std::vector<std::string> names;
  for (const Fact& fact : facts) {
    if (!fact.assumed) continue;
    CHECK(fact.value == FactValue(false));
    CHECK(fact.source == FactSource::groups);
    names.push_back(fact.name);
  }
  return names;
}

using Names = std::vector<std::string>;

TEST_CASE("a group with a learning rate has torch's defaults of what it does not state") {
  CHECK(assumed({of_group("optimizer.groups.0.lr", 1e-3),
                 of_group("optimizer.groups.0.amsgrad", true)}) ==
        Names{"optimizer.groups.0.maximize", "optimizer.groups.0.nesterov"});
  CHECK(assumed({of_group("a.groups.12.lr.rank.3", 1e-3)}) == Names{"a.groups.12.amsgrad.rank.3",
                                                                    "a.groups.12.maximize.rank.3",
                                                                    "a.groups.12.nesterov.rank.3"});
}

TEST_CASE("what is no group of torch's has none") {
  CHECK(assumed({of_group("optimizer.groups.0.step", std::int64_t{3})}).empty());
  CHECK(assumed({{"optimizer.groups.0.lr", 1e-3, FactUse::compared, {}}}).empty());
}

}  // namespace
}  // namespace ttcheck::formats
