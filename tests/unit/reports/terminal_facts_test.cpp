// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "reports/terminal_parts.hpp"

namespace ttcheck::reports {
namespace {

TEST_CASE("facts that differ are shown; all others but equal ones on request") {
  Verdict verdict;
  CHECK(facts_section(verdict, {}).empty());
  verdict.facts = {
      {"model.layers", FactValue(std::int64_t{2}), FactValue(std::int64_t{2}), "equal"},
      {"host", FactValue("a"), {}, "only-reference"}};
  CHECK(facts_section(verdict, {}).empty());
  verdict.facts.push_back({"lr", FactValue(0.5), FactValue(0.25), "differs"});
  CHECK(facts_section(verdict, {}) ==
        "\nFacts that differ  reference  candidate\n"
        "lr                 0.5        0.25\n");
  CHECK(facts_section(verdict, {.all = true}) ==
        "\nFacts that differ  reference  candidate\n"
        "host               a          -\n"
        "lr                 0.5        0.25\n");
  CHECK(facts_section(verdict, {.color = true})
            .starts_with("\n\x1b[1mFacts that differ  reference  candidate\x1b[0m\nlr "));
}

TEST_CASE("names and values are escaped, and long values cut") {
  Verdict verdict;
  const std::string sixty(60, 'x');
  verdict.facts = {{"a\n", FactValue("b\x1b"), FactValue(sixty), "differs"}};
  CHECK(facts_section(verdict, {}) ==
        "\nFacts that differ  reference  candidate\n"
        "a\\n                b\\x1b      " +
            sixty + "\n");
  verdict.facts = {{"a", FactValue("b"), FactValue(sixty + "x"), "differs"}};
  CHECK(facts_section(verdict, {}).find(sixty + "\\...(61 bytes, fnv1a ") != std::string::npos);
}

}  // namespace
}  // namespace ttcheck::reports
