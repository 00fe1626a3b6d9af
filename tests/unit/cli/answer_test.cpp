// SPDX-License-Identifier: Apache-2.0
#include "cli/answer.hpp"

#include <doctest/doctest.h>

namespace ttcheck::cli {
namespace {

Verdict verdict_of(Outcome outcome, bool complete = true) {
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.complete = complete;
  return verdict;
}

Verdict with(Verdict verdict, Severity severity) {
  verdict.findings.emplace_back();
  verdict.findings.back().severity = severity;
  return verdict;
}

TEST_CASE("the exit code is a sum") {
  CHECK(exit_code(verdict_of(Outcome::equal), FailOn::error) == 0);
  CHECK(exit_code(verdict_of(Outcome::noise), FailOn::error) == 0);
  CHECK(exit_code(verdict_of(Outcome::diverged), FailOn::error) == 1);
  CHECK(exit_code(verdict_of(Outcome::not_comparable), FailOn::error) == 2);
  CHECK(exit_code(verdict_of(Outcome::diverged, false), FailOn::error) == 3);
  CHECK(exit_code(with(verdict_of(Outcome::equal), Severity::error), FailOn::error) == 1);
  CHECK(exit_code(with(verdict_of(Outcome::equal), Severity::warning), FailOn::error) == 0);
}

TEST_CASE("--fail-on moves the line for 1, never for 2") {
  CHECK(exit_code(verdict_of(Outcome::noise), FailOn::noise) == 1);
  CHECK(exit_code(verdict_of(Outcome::noise), FailOn::warning) == 0);
  CHECK(exit_code(with(verdict_of(Outcome::equal), Severity::warning), FailOn::warning) == 1);
  CHECK(exit_code(verdict_of(Outcome::diverged), FailOn::never) == 0);
  CHECK(exit_code(verdict_of(Outcome::diverged, false), FailOn::never) == 2);
}

}  // namespace
}  // namespace ttcheck::cli
