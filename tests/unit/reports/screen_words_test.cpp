// SPDX-License-Identifier: Apache-2.0
#include "reports/screen_words.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "reports/story.hpp"

namespace ttcheck::reports {
namespace {

TEST_CASE("words are found whatever their case, each once, as sentences") {
  std::set<std::string_view> seen;
  for (const ScreenWord& row : screen_words()) {
    CHECK(seen.insert(row.word).second);
    CHECK(row.meaning.ends_with('.'));
    CHECK(screen_word(row.word) == &row);
  }
  REQUIRE(screen_word("noise") != nullptr);
  CHECK(screen_word("noise")->word == "NOISE");
  CHECK(screen_word("Off By")->word == "off by");
  CHECK(screen_word("TT102") == nullptr);
}

TEST_CASE("every label of a story is one of them, or speaks for itself") {
  const std::set<std::string_view> plain = {"tensor", "error",   "warning",
                                            "note",   "missing", "unexpected"};
  Verdict verdict;
  verdict.outcome = Outcome::diverged;
  verdict.first.emplace();
  verdict.first->tensor = "w";
  verdict.first->phase = Phase::forward;
  verdict.first->before = Before{1, 0, {"v", Phase::forward}};
  TensorResult& one = verdict.tensors.emplace_back();
  one.identity = {"w", Phase::forward};
  one.by_limit = Outcome::diverged;
  one.metrics.max_abs_index = 0;
  one.values = {1, 2};
  verdict.tally.outcomes = {1, 0, 1, 0};
  for (const Severity severity : {Severity::note, Severity::warning, Severity::error}) {
    Finding& finding = verdict.findings.emplace_back();
    finding.severity = severity;
    finding.message = "said";
  }
  const Story story = story_of(verdict, 3);
  CHECK(story.lines.size() > 5);
  for (const StoryLine& line : story.lines) {
    INFO(line.label);
    CHECK((plain.contains(line.label) || screen_word(line.label) != nullptr));
  }
}

}  // namespace
}  // namespace ttcheck::reports
