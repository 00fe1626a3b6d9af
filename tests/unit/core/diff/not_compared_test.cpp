// SPDX-License-Identifier: Apache-2.0
#include "core/diff/not_compared.hpp"

#include <doctest/doctest.h>

namespace ttcheck::diff {
namespace {

Tensor named(const char* name) {
  Tensor made;
  made.identity.name = name;
  made.identity.phase = Phase::forward;
  return made;
}

TEST_CASE("what cannot be compared is one warning for each reason, and counted") {
  Uncompared uncompared;
  uncompared.add(named("a/output.0"), "no hash");
  uncompared.add(named("b/output.0"), "no shape");
  uncompared.add(named("c/output.0"), "no hash");
  Verdict verdict;
  uncompared.report(3, verdict);
  CHECK(verdict.coverage.unreadable == 3);
  REQUIRE(verdict.findings.size() == 2);
  CHECK(verdict.findings[0].message == "cannot be compared: no hash, as 1 more");
  CHECK(verdict.findings[0].tensor == "a/output.0");
  CHECK(verdict.findings[0].op == "a");
  CHECK(verdict.findings[0].step == 3);
  CHECK(verdict.findings[0].severity == Severity::warning);
  CHECK(verdict.findings[0].incomplete);
  CHECK(verdict.findings[1].message == "cannot be compared: no shape");
}

TEST_CASE("where all was compared nothing is said") {
  Verdict verdict;
  Uncompared().report({}, verdict);
  CHECK(verdict.findings.empty());
}

}  // namespace
}  // namespace ttcheck::diff
