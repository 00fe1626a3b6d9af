#include "core/verdict/facts.hpp"

#include <doctest/doctest.h>

#include <string>

namespace ttcheck::verdict {
namespace {

Fact fact(std::string name, double value, FactUse use = FactUse::compared) {
  return {std::move(name), value, use, {}};
}

/// `name:verdict` of all, in order.
std::string met(const std::vector<Fact>& a, const std::vector<Fact>& b, bool same_mesh = true) {
  std::string text;
  for (const FactResult& result : compare_facts(a, b, same_mesh)) {
    text += result.name + ":" + result.verdict + " ";
  }
  return text;
}

TEST_CASE("facts meet by name, the first of a name counts, notes stay notes") {
  CHECK(met({fact("a", 1), fact("b", 2), fact("c", 3), fact("a", 9)},
            {fact("d", 4), fact("b", 3), fact("a", 1), fact("c", 4, FactUse::note)}) ==
        "a:equal b:differs c:note d:only-candidate ");
}

TEST_CASE("a shared fact meets each rank's, on either side") {
  const std::vector<Fact> shared = {fact("lr", 1)};
  const std::vector<Fact> apart = {fact("lr.rank.0", 1), fact("lr.rank.1", 2)};
  CHECK(met(shared, apart) == "lr.rank.0:equal lr.rank.1:differs ");
  CHECK(met(apart, shared) == "lr.rank.0:equal lr.rank.1:differs ");
  CHECK(met(apart, {fact("lr.rank.0", 1), fact("lr.rank.1", 3)}) ==
        "lr.rank.0:equal lr.rank.1:differs ");
  CHECK(met(shared, apart, false) == "lr.rank.0:equal lr.rank.1:note ");
}

TEST_CASE("a rank that differs from what the others share meets that of the other side") {
  CHECK(met({fact("a", 1), fact("a.rank.3", 2)}, {fact("a", 1)}) == "a:equal a.rank.3:differs ");
  CHECK(met({fact("a", 1)}, {fact("a", 1), fact("a.rank.3", 2)}) == "a:equal a.rank.3:differs ");
  CHECK(met({fact("a.rank.x", 1)}, {fact("a", 1)}) == "a.rank.x:only-reference a:only-candidate ");
}

}  // namespace
}  // namespace ttcheck::verdict
