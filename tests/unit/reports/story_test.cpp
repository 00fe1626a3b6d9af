// SPDX-License-Identifier: Apache-2.0
#include "reports/story.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace ttcheck::reports {
namespace {

TensorResult wrong(const std::string& name, Phase phase) {
  TensorResult result;
  result.identity = {name, phase};
  result.by_limit = Outcome::diverged;
  result.limit.kind = LimitKind::model;
  result.test = Test::rel;
  result.error = 0.5;
  result.allowed = 0.25;
  result.wrong_ranks = {1};
  result.step = 4;
  return result;
}

Verdict diverged(Phase phase) {
  Verdict verdict;
  verdict.command = "diff";
  verdict.outcome = Outcome::diverged;
  verdict.first.emplace();
  verdict.first->tensor = "layers.1.b";
  verdict.first->op = "layers.1";
  verdict.first->phase = phase;
  verdict.first->step = 4;
  for (const char* name : {"layers.1.a", "layers.1.b", "layers.2.b", "layers.3.b"}) {
    verdict.tensors.push_back(wrong(name, phase));
  }
  verdict.tensors.front().by_limit = Outcome::noise;
  verdict.tally.outcomes = {0, 1, 3, 0};
  verdict.tally.steps = {4};
  verdict.coverage.paired = 4;
  return verdict;
}

TEST_CASE("rows of a trace stand one by one, those of a checkpoint by their pattern") {
  const Story trace = story_of(diverged(Phase::forward), 2);
  CHECK(trace.rows_title == "in the order of the step");
  REQUIRE(trace.rows.size() == 2);
  CHECK(trace.rows[0].name == "forward layers.1.b");
  CHECK(trace.rows[0].first);
  CHECK(trace.rows[0].off_by == "50 %");
  CHECK(trace.rows[0].explained == "25 %");
  CHECK(trace.rows[0].ranks.empty());  // there is one
  CHECK(trace.rows[0].step.empty());
  CHECK(!trace.rows[1].first);
  CHECK(trace.more == 1);
  const Story checkpoint = story_of(diverged(Phase::none), 2);
  REQUIRE(checkpoint.rows.size() == 1);
  CHECK(checkpoint.rows[0].name == "layers.{1-3}.b (3)");
  CHECK(checkpoint.more == 0);
}

TEST_CASE("ranks and steps have a column where there are several") {
  Verdict verdict = diverged(Phase::forward);
  verdict.candidate.emplace();
  verdict.candidate->mesh.axes = {{"tp", 2}};
  verdict.tally.steps = {3, 4};
  verdict.first->ranks = {1};
  verdict.first->axes = {{"tp", {1}}};
  const Story story = story_of(verdict, 1);
  CHECK(story.rows[0].ranks == "1");
  CHECK(story.rows[0].step == "4");
  CHECK(story.sentence == "at layers.1, forward of step 4, on rank 1 (tp 1 of 2) only");
  verdict.first->ranks = {0, 1};
  CHECK(story_sentence(verdict) == "at layers.1, forward of step 4, on both ranks");
}

TEST_CASE("one wrong tensor needs no table; the commands go on from it") {
  Verdict verdict = diverged(Phase::none);
  verdict.tensors.resize(2);
  verdict.tally.outcomes = {2, 1, 1, 0};
  Finding finding;
  finding.code = Code::bit_flip;
  finding.tensor = "layers.1.b";
  finding.step = 4;
  finding.next = {"ttcheck", "show", "a b"};
  verdict.findings.push_back(finding);
  const Story story = story_of(verdict, 3);
  CHECK(story.rows.empty());
  REQUIRE(story.commands.size() == 2);
  CHECK(story.commands[0].text == "ttcheck show 'a b'");
  CHECK(story.commands[1].text == "ttcheck explain TT701  # bit-flip");
}

TEST_CASE("a search says what it came to, first") {
  Verdict verdict = diverged(Phase::none);
  verdict.search.emplace();
  verdict.search->axis = "steps";
  verdict.search->first_bad_step = 4;
  verdict.search->examined = 3;
  verdict.search->total = 12;
  const Story story = story_of(verdict, 3);
  CHECK(story.lines[0].text == "step 4");
  CHECK(story.lines[1].text == "none");
  CHECK(story.lines[2].text == "3 of 12 steps; 0 B read of 0 B");
}

TEST_CASE("how much of a model is wrong") {
  Verdict verdict = diverged(Phase::none);
  verdict.tensors[1].by_limit = Outcome::noise;
  CHECK(story_sentence(verdict) == "3 of 4 tensors differ by more than rounding explains");
  verdict.tally.outcomes = {1, 0, 3, 0};
  CHECK(story_sentence(verdict) == "3 of 4 tensors differ");
  verdict.tally.outcomes = {0, 0, 4, 0};
  CHECK(story_sentence(verdict) == "all 4 tensors differ");
  verdict.findings.resize(1);
  verdict.findings[0].code = Code::trained_apart;
  CHECK(story_sentence(verdict) ==
        "all 4 tensors differ as weights of another training do: that is no rounding, and no "
        "corruption");
}

}  // namespace
}  // namespace ttcheck::reports
