// SPDX-License-Identifier: Apache-2.0
// What a story says beside the first difference.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "reports/story.hpp"
#include "tests/support/said_finding.hpp"

namespace ttcheck::reports {
namespace {

using tests::finding_of;

std::vector<std::string> lines_of(const Verdict& verdict) {
  std::vector<std::string> lines;
  for (const StoryLine& line : story_findings(verdict)) {
    lines.push_back(std::string(line.label) + ": " + line.text);
  }
  return lines;
}

TEST_CASE("what one side lacks is one line, whatever step it is of") {
  Verdict verdict;
  verdict.outcome = Outcome::diverged;
  for (const std::string name : {"layers.0.a", "layers.1.a", "layers.0.a", "head"}) {
    verdict.findings.push_back(finding_of(Code::missing, Severity::error, name, "is not there"));
  }
  verdict.findings.push_back(
      finding_of(Code::unexpected, Severity::error, "extra", "f32 [2] is only in the candidate"));
  CHECK(lines_of(verdict) ==
        std::vector<std::string>{"missing: only in the reference: layers.0.a, layers.1.a, head",
                                 "unexpected: extra: f32 [2] is only in the candidate"});
}

TEST_CASE("others are a line for each code, the severest first") {
  Verdict verdict;
  verdict.outcome = Outcome::equal;
  verdict.findings = {finding_of(Code::missing, Severity::note, "", "a note"),
                      finding_of(Code::checksum, Severity::error, "weight", "a wrong sum"),
                      finding_of(Code::checksum, Severity::error, "v", "another"),
                      finding_of(Code::unreadable, Severity::warning, "", "cannot be read")};
  verdict.findings.back().where = Where{"a\nfile", {}, {}};
  CHECK(lines_of(verdict) ==
        std::vector<std::string>{"error: TT502 weight: a wrong sum; and 1 like it",
                                 "warning: TT501 a\\nfile: cannot be read", "note: TT305: a note"});
}

TEST_CASE("what the first difference or its rows tell is not told again") {
  Verdict verdict;
  verdict.outcome = Outcome::diverged;
  verdict.first.emplace();
  verdict.first->tensor = "w";
  verdict.findings = {
      finding_of(Code::config, Severity::error, "", "the rate differs"),
      finding_of(Code::diverged, Severity::error, "w", "it differs"),
      finding_of(Code::diverged, Severity::error, "v", "it differs, too"),
      finding_of(Code::odd_one_out, Severity::error, "unit", "unlike its siblings")};
  for (Finding& one : verdict.findings) one.ratio = 2;
  CHECK(lines_of(verdict) == std::vector<std::string>{"error: TT613 unit: unlike its siblings"});
}

}  // namespace
}  // namespace ttcheck::reports
