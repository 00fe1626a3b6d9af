// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/facts.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

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

TEST_CASE("of later steps a fact that comes to something stands in place of one that did not") {
  const auto fact = [](const char* name, const char* verdict, std::optional<Severity> severity) {
    return FactResult{name, {}, {}, verdict, severity};
  };
  std::vector<FactResult> known = {fact("lr", "equal", {}),
                                   fact("eps", "differs", Severity::error)};
  const std::vector<FactResult> later = {
      fact("lr", "differs", Severity::error), fact("eps", "differs", Severity::error),
      fact("seed", "differs", Severity::error), fact("wd", "equal", {})};
  add_facts(later, 20, known);
  add_facts(later, 30, known);
  REQUIRE(known.size() == 3);
  CHECK(known[0].verdict == "differs");
  CHECK(known[0].step == 20);
  CHECK_FALSE(known[1].step);
  CHECK(known[2].name == "seed");
  CHECK(known[2].step == 20);
}

TEST_CASE("what could not be read equals nothing, and leaves the comparison incomplete") {
  Fact unread{"rng.x", std::string("not read: why"), FactUse::opaque, {}};
  unread.unread = true;
  const auto results = compare_facts({unread}, {unread}, true);
  REQUIRE(results.size() == 1);
  CHECK(results[0].verdict == "unread");
  const auto findings = fact_findings(results, 3);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].code == Code::unreadable);
  CHECK(findings[0].severity == Severity::warning);
  CHECK(findings[0].incomplete);
  CHECK(met({unread}, {fact("rng.x", 1, FactUse::note)}) == "rng.x:unread ");
  CHECK(met({unread}, {}) == "rng.x:only-reference ");
}

Fact of_config(std::string name, double value, bool assumed = false) {
  return {std::move(name), value, FactUse::compared, {}, FactSource::config, assumed};
}

/// `severity: message` of each finding.
std::vector<std::string> told(const std::vector<Fact>& a, const std::vector<Fact>& b) {
  std::vector<std::string> lines;
  for (const Finding& finding : fact_findings(compare_facts(a, b, true), 3)) {
    CHECK(finding.code == Code::config);
    CHECK(finding.step == 3);
    lines.push_back((finding.severity == Severity::error ? "error: " : "warning: ") +
                    finding.message);
  }
  return lines;
}

TEST_CASE("S6 what one side's source does not state is weighed by its default, else a warning") {
  const Fact theta = of_config("theta", 5), usual = of_config("theta", 1, true);
  const Fact other = of_config("eps", 2);
  using Lines = std::vector<std::string>;
  CHECK(
      told({theta}, {usual}) ==
      Lines{
          "error: theta is 5 in the reference and not stated in the candidate, which makes it 1"});
  CHECK(
      told({usual}, {theta}) ==
      Lines{
          "error: theta is not stated in the reference, which makes it 1 and 5 in the candidate"});
  CHECK(met({of_config("theta", 1)}, {usual}) == "theta:note ");
  CHECK(told({of_config("theta", 1)}, {usual}).empty());
  CHECK(met({usual}, {usual}).empty());
  CHECK(met({usual}, {}).empty());
  CHECK(told({theta, other}, {other}) ==
        Lines{"warning: theta is 5 in the reference and not stated in the candidate"});
  CHECK(told({other}, {theta, other}) ==
        Lines{"warning: theta is not stated in the reference and 5 in the candidate"});
  CHECK(told({theta}, {fact("eps", 2)}).empty());                      // no such source there
  CHECK(met({fact("theta", 5)}, {usual}) == "theta:only-reference ");  // of another source
}

TEST_CASE("S5 opaque values that differ: an error between copies of one state, else a warning") {
  const auto severities = [](const std::vector<Fact>& a, const std::vector<Fact>& b, bool equal) {
    std::string text;
    for (const Finding& finding : opaque_findings(compare_facts(a, b, true), {}, equal)) {
      text += finding.severity == Severity::error ? "error " : "warning ";
    }
    return text;
  };
  const std::vector<Fact> a = {fact("rng", 1, FactUse::opaque), fact("step", 1)};
  CHECK(severities(a, {fact("rng", 1, FactUse::opaque), fact("step", 1)}, true).empty());
  CHECK(severities(a, {fact("rng", 2, FactUse::opaque), fact("step", 1)}, true) == "error ");
  CHECK(severities(a, {fact("rng", 2, FactUse::opaque), fact("step", 1)}, false) == "warning ");
  CHECK(severities(a, {fact("rng", 2, FactUse::opaque), fact("step", 2)}, true) == "warning ");
  const std::vector<Fact> b = {fact("rng", 2, FactUse::opaque), fact("blob", 2, FactUse::opaque)};
  const std::vector<FactResult> apart =
      compare_facts({fact("rng", 1, FactUse::opaque), fact("blob", 1, FactUse::opaque)}, b, false);
  CHECK(apart[0].verdict == "note");  // of other ranks
  CHECK_FALSE(apart[0].severity);
  CHECK(apart[1].severity == Severity::warning);
  CHECK(fact_findings(compare_facts({a[0]}, {fact("rng", 2, FactUse::opaque)}, true), {}).empty());
}

}  // namespace
}  // namespace ttcheck::verdict
