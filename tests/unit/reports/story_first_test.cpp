// SPDX-License-Identifier: Apache-2.0
// What a story says of the first difference.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "reports/story.hpp"

namespace ttcheck::reports {
namespace {

/// The text under a label; empty where there is no such line.
std::string text_of(const Verdict& verdict, std::string_view label) {
  const auto lines = story_first(verdict);
  const auto found = std::ranges::find(lines, label, &StoryLine::label);
  return found == lines.end() ? "" : found->text;
}

TensorResult result_of(const std::string& name, Phase phase) {
  TensorResult result;
  result.identity = {name, phase};
  result.by_limit = Outcome::diverged;
  result.shape = {2, 3};
  result.limit.kind = LimitKind::model;
  result.test = Test::rel;
  result.error = 0.5;
  result.allowed = 0.25;
  result.ratio = 2;
  result.metrics.count = 6;
  result.metrics.unequal_values = 4;
  result.metrics.max_abs_index = 5;
  result.values = {1, 2};
  return result;
}

Verdict wrong(Phase phase) {
  Verdict verdict;
  verdict.outcome = Outcome::diverged;
  verdict.first.emplace();
  verdict.first->tensor = "m/output.0";
  verdict.first->phase = phase;
  verdict.tensors.push_back(result_of("m/output.0", phase));
  verdict.tally.outcomes = {3, 1, 1, 0};
  return verdict;
}

TEST_CASE("how far, where it is worst, and why") {
  Verdict verdict = wrong(Phase::forward);
  CHECK(text_of(verdict, "record") == "forward m/output.0");
  CHECK(text_of(verdict, "what") == "it is off by 50 %, 2.0 times what rounding explains (25 %)");
  CHECK(text_of(verdict, "worst at") == "[1, 2]: 1 in the reference, 2 in the candidate");
  CHECK(text_of(verdict, "why").empty());
  Finding finding;
  finding.tensor = "m/output.0";
  finding.phase = Phase::forward;
  finding.message = "it differs; for a reason; and by the way";
  finding.why = 10;
  finding.aside = finding.message.find("; and by");
  verdict.findings.push_back(finding);
  CHECK(text_of(verdict, "why") == "for a reason");
  verdict.findings[0].hypotheses.push_back({"localised", {}, 0, 1});
  verdict.findings[0].code = Code::localised;
  CHECK(text_of(verdict, "where") == "for a reason");
  CHECK(text_of(verdict, "why") == "and by the way");
  verdict.tensors[0].metrics.unequal_values = 1;  // the headline says that it is one
  CHECK(text_of(verdict, "what").empty());
}

TEST_CASE("of a trace: what is right before, and what is wrong behind") {
  Verdict verdict = wrong(Phase::forward);
  CHECK(text_of(verdict, "right").empty());
  CHECK(text_of(verdict, "behind it").empty());
  verdict.first->before = Before{3, 1, {"k/output.0", Phase::forward}};
  CHECK(text_of(verdict, "right") ==
        "4 records agree, 3 bit for bit; the last is forward k/output.0");
  verdict.first->step = 3;
  verdict.tally.steps = {1, 2, 3};
  verdict.first->before->noise = 0;
  CHECK(text_of(verdict, "right") ==
        "steps 1,2 agree; in this one 3 records agree bit for bit; the last is forward k/output.0");
  verdict.tally.outcomes[2] = 3;
  CHECK(text_of(verdict, "record").empty());  // a table names it
  CHECK(text_of(verdict, "behind it") == "2 more records are off, all later in the step");
  verdict.tensors[0].step = 3;
  verdict.roots = {{3, verdict.tensors[0].identity, 1}, {3, {"n/output.0", Phase::forward}, 0}};
  CHECK(text_of(verdict, "behind it") == "2 more records are off; 1 only pass this on");
  CHECK(text_of(verdict, "also wrong") == "forward n/output.0");
}

TEST_CASE("of a checkpoint: what is right beside it") {
  Verdict verdict = wrong(Phase::none);
  CHECK(text_of(verdict, "tensor") == "m/output.0");
  CHECK(text_of(verdict, "others") == "3 are equal, 1 differ by no more than is explained");
  verdict.tally.outcomes[1] = 0;
  CHECK(text_of(verdict, "others") == "the other 3 are equal bit for bit");
  verdict.tally.casts = {{"rounding", 1}};
  CHECK(text_of(verdict, "others") == "the other 3 are equal");
}

TEST_CASE("of what training moved: how far all of it is") {
  Verdict verdict = wrong(Phase::none);
  Finding finding;
  finding.code = Code::trained_apart;
  finding.tensor = "m/output.0";
  finding.message = "1 of 5 tensors is apart";
  verdict.findings.push_back(finding);
  verdict.relation.emplace();
  verdict.relation->evidence = "weights are apart by 1.1 %";
  CHECK(text_of(verdict, "what") == "weights are apart by 1.1 %");
  CHECK(text_of(verdict, "why").empty());
}

TEST_CASE("of noise: where it is nearest to its limit") {
  Verdict verdict;
  verdict.outcome = Outcome::noise;
  CHECK(story_first(verdict).empty());
  for (const double ratio : {0.2, 0.5, 0.3}) {
    TensorResult& one = verdict.tensors.emplace_back(result_of(std::to_string(ratio), Phase::none));
    one.by_limit = Outcome::noise;
    one.ratio = ratio;
    one.step = 4;
  }
  CHECK(text_of(verdict, "largest") ==
        "0.500000: it is off by 50 %, 50 % of what rounding explains (25 %)");
  verdict.tally.steps = {3, 4};
  CHECK(text_of(verdict, "largest").starts_with("0.500000, step 4: "));
}

}  // namespace
}  // namespace ttcheck::reports
