// SPDX-License-Identifier: Apache-2.0
#include "core/diff/set_known_apart.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "core/verdict/findings.hpp"

namespace ttcheck::diff {
namespace {

TensorResult beyond(const std::string& name, std::optional<std::int64_t> step = {}) {
  TensorResult result;
  result.identity.name = name;
  result.step = step;
  result.by_limit = Outcome::diverged;
  return result;
}

Finding wrong(Code code, const std::string& tensor, std::optional<std::int64_t> step = {}) {
  Finding finding = verdict::note(code, step, "wrong");
  finding.severity = Severity::error;
  finding.tensor = tensor;
  return finding;
}

/// Two tensors that diverged, one that is missing, and a setting that differs.
Verdict two_and_more() {
  Verdict verdict;
  verdict.tensors = {beyond("a"), beyond("b")};
  verdict.findings = {wrong(Code::diverged, "a"), wrong(Code::partial_sum, "b"),
                      wrong(Code::missing, "c"), wrong(Code::config, "")};
  verdict.coverage.paired = 5;
  verdict.coverage.only_reference = 1;
  verdict.first = Divergence{};
  verdict.first->tensor = "a";
  return verdict;
}

Verdict without(Verdict verdict, const std::string& keys) {
  const auto known = verdict::parse_known(
      "known = 1\n[[difference]]\nreason = 'r'\ndate = 2026-01-31\n" + keys, "known.toml");
  set_known_apart(known, Mesh{}, verdict);
  return verdict;
}

TEST_CASE("the first difference is the first of what is left") {
  const Verdict left = without(two_and_more(), "tensors = ['a']");
  REQUIRE(left.tensors.size() == 1);
  REQUIRE(left.first);
  CHECK(left.first->tensor == "b");
  CHECK(left.findings.size() == 3);
  CHECK(left.coverage.paired == 4);
  CHECK(left.coverage.excluded == 2);
  REQUIRE(left.known.size() == 1);
  CHECK(left.known[0].count == 1);
}

TEST_CASE("a code takes what a finding calls so, and no more") {
  const Verdict left = without(two_and_more(), "codes = ['partial-sum']");
  REQUIRE(left.tensors.size() == 1);
  CHECK(left.tensors[0].identity.name == "a");
  CHECK(left.first->tensor == "a");
}

TEST_CASE("what has no result is counted by what it is") {
  const Verdict missing = without(two_and_more(), "tensors = ['c']");
  CHECK(missing.coverage.only_reference == 0);
  CHECK(missing.coverage.excluded == 1);
  CHECK(missing.tensors.size() == 2);
  const Verdict setting = without(two_and_more(), "codes = ['config']");
  CHECK(setting.findings.size() == 3);
  CHECK(setting.coverage.excluded == 0);
  CHECK(setting.known.at(0).count == 1);
}

TEST_CASE("what leaves something unchecked stays, and so do notes") {
  Verdict verdict = two_and_more();
  verdict.findings[0].incomplete = true;
  verdict.findings[1].severity = Severity::note;
  const Verdict left = without(std::move(verdict), "tensors = ['a', 'b', 'c']");
  CHECK(left.findings.size() == 3);  // and the setting
  CHECK(left.findings[0].incomplete);
  REQUIRE(left.tensors.size() == 1);
  CHECK(left.tensors[0].identity.name == "a");
}

TEST_CASE("a tensor of which something else is wrong, too, stays") {
  Verdict verdict = two_and_more();
  verdict.findings.push_back(wrong(Code::non_finite, "a"));
  const Verdict left = without(std::move(verdict), "codes = ['diverged']");
  CHECK(left.tensors.size() == 2);
  CHECK(left.first->tensor == "a");
}

TEST_CASE("an entry that matches nothing is a warning") {
  const Verdict left = without(two_and_more(), "tensors = ['other']");
  CHECK(left.known.empty());
  REQUIRE(left.findings.size() == 5);
  CHECK(left.findings.back().severity == Severity::warning);
}

TEST_CASE("what only passes a known error on goes with it") {
  Verdict verdict;
  verdict.tensors = {beyond("a", 1), beyond("b", 1), beyond("c", 1), beyond("d", 1)};
  for (std::size_t i = 0; i < verdict.tensors.size(); ++i) verdict.tensors[i].pair = 10 + i;
  verdict.findings = {wrong(Code::op_wrong, "a", 1), wrong(Code::diverged, "b", 1),
                      wrong(Code::diverged, "c", 1), wrong(Code::diverged, "d", 1)};
  verdict.coverage.paired = 4;
  verdict.roots = {{1, {"a", Phase::none, 0, 0}, 1, {11}}, {1, {"c", Phase::none, 0, 0}, 1, {13}}};
  verdict.first = Divergence{};
  verdict.first->step = 1;
  verdict.first->tensor = "a";
  const Verdict left = without(std::move(verdict), "codes = ['op-wrong']");
  REQUIRE(left.tensors.size() == 2);
  CHECK(left.tensors[0].identity.name == "c");
  CHECK(left.findings.size() == 2);
  CHECK(left.coverage.paired == 2);
  REQUIRE(left.first);
  CHECK(left.first->tensor == "c");
  REQUIRE(left.known.size() == 1);
  CHECK(left.known[0].count == 2);
  CHECK(left.known[0].first == "a");
}

}  // namespace
}  // namespace ttcheck::diff
