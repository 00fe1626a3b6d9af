// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "reports/terminal.hpp"
#include "tests/support/said_finding.hpp"

namespace ttcheck::reports {
namespace {

using tests::finding_of;

TensorResult wrong(const std::string& name, std::size_t pair) {
  TensorResult result;
  result.identity.name = name;
  result.identity.phase = Phase::forward;
  result.pair = pair;
  result.by_limit = Outcome::diverged;
  result.limit.kind = LimitKind::model;
  result.test = Test::rel;
  result.error = 0.5;
  result.allowed = 1e-6;
  result.ratio = 5e5;
  result.step = 12;
  return result;
}

/// A trace that went wrong, with everything that may be said of it.
Verdict diverged() {
  Verdict verdict;
  verdict.command = "diff";
  verdict.outcome = Outcome::diverged;
  verdict.reference = RunSummary{"reference", "ttcheck-trace", {}, {12}, 50, 1 << 20};
  verdict.candidate = RunSummary{"candidate", "ttcheck-trace", {}, {12}, 50, 1 << 20};
  verdict.first = Divergence{12, 0, Phase::forward, "mlp", "mlp/output.0", {}, {}, {}, true};
  verdict.first->before = Before{20, 10, {"attn/output.0", Phase::forward}};
  for (int i = 0; i < 20; ++i) {
    verdict.tensors.push_back(
        wrong(i == 0 ? "mlp/output.0" : "after." + std::to_string(i), verdict.tensors.size()));
  }
  verdict.tally.outcomes = {20, 10, 20, 0};
  verdict.coverage.paired = 50;
  for (int i = 0; i < 6; ++i) {
    verdict.findings.push_back(
        finding_of(Code::config, Severity::error, "",
                   "fact " + std::to_string(i) +
                       " differs in a sentence "
                       "that goes on for longer than one line of the screen"));
  }
  Finding first = finding_of(Code::scale, Severity::error, "mlp/output.0",
                             "it is off; the candidate is 0.5 x the reference; op unknown");
  first.phase = Phase::forward;
  first.step = 12;
  first.why = 9;
  first.aside = first.message.find("; op");
  first.ratio = 5e5;
  first.next = {"ttcheck",
                "show",
                "a/long/path/of/a/reference",
                "mlp/output.0",
                "another/long/path/of/a/candidate/run",
                "--and",
                "--more",
                "--words"};
  verdict.findings.push_back(first);
  for (const Code code :
       {Code::missing, Code::degenerate, Code::unmeasured_noise, Code::duplicate_checkpoint}) {
    verdict.findings.push_back(finding_of(code, Severity::note, "", "a note of some length"));
  }
  return verdict;
}

TEST_CASE("what diverged has at most 24 lines of 100 columns") {
  const std::string text = write_terminal(diverged(), {});
  CHECK(std::ranges::count(text, '\n') <= 24);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
  CHECK(text.starts_with("DIVERGED  at mlp, forward of step 12\n"));
  CHECK(text.find("why        the candidate is 0.5 x the reference\n") != std::string::npos);
  CHECK(text.find("op unknown") == std::string::npos);
  CHECK(text.find("30 records agree, 20 bit for bit; the last is forward attn/output.0") !=
        std::string::npos);
  CHECK(text.find("it is off by 50 %, 500,000 times what rounding explains (0.00010 %)") !=
        std::string::npos);
  CHECK(text.find("a/candidate/run") != std::string::npos);
  CHECK(text.find(" \\\n") != std::string::npos);  // the command goes on
}

TEST_CASE("a command that goes on is broken between its words alone") {
  Verdict verdict = diverged();
  const std::string word(60, 'a');
  for (Finding& one : verdict.findings) {
    if (!one.next.empty()) one.next = {"ttcheck", "show", word + " " + word, "it's " + word, "b"};
  }
  const std::string text = write_terminal(verdict, {});
  const std::size_t begin = text.find("  next       ");
  REQUIRE(begin != std::string::npos);
  const std::string indent = " \\\n" + std::string(13, ' ');
  CHECK(text.substr(begin, text.find("  meaning", begin) - begin) ==
        "  next       ttcheck show" + indent + "'" + word + " " + word + "'" + indent +
            "'it'\\''s " + word + "' b\n");
}

TEST_CASE("as many rows as somebody asks for are listed") {
  ReportOptions options;
  options.rows = options.top = 20;
  const std::string text = write_terminal(diverged(), options);
  CHECK(text.find("forward after.19") != std::string::npos);
}

TEST_CASE("what is right has at most 10 lines, and says what it rests on") {
  Verdict verdict = diverged();
  verdict.outcome = Outcome::equal;
  verdict.first.reset();
  verdict.tensors.clear();
  verdict.tally.outcomes = {50, 0, 0, 0};
  std::erase_if(verdict.findings,
                [](const Finding& one) { return one.severity == Severity::error; });
  verdict.coverage.excluded = 12;
  verdict.coverage.excluded_by = {{"kind moment1: not in reference", 12}};
  const std::string text = write_terminal(verdict, {});
  CHECK(std::ranges::count(text, '\n') <= 10);
  CHECK(text.starts_with("EQUAL  50 tensors, bit for bit\n"));
  CHECK(text.find("left out   12 by kind moment1: not in reference\n") != std::string::npos);
}

}  // namespace
}  // namespace ttcheck::reports
