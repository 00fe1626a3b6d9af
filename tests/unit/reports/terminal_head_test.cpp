// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "reports/terminal_parts.hpp"

namespace ttcheck::reports {
namespace {

Verdict verdict_of(Outcome outcome, std::int64_t paired) {
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.coverage.paired = paired;
  return verdict;
}

TEST_CASE("the first line: the outcome's word and a sentence") {
  struct {
    const char* what;
    Verdict verdict;
    const char* line;
  } rows[] = {
      {"equal", verdict_of(Outcome::equal, 1234), "EQUAL  1,234 tensors, bit for bit\n\n"},
      {"after a cast", verdict_of(Outcome::equal, 4),
       "EQUAL  4 tensors; 3 of them after a cast (rounding 1, widening 2)\n\n"},
      {"noise", verdict_of(Outcome::noise, 2),
       "NOISE  1 of 2 tensors differs, by no more than rounding explains\n\n"},
      {"beyond", verdict_of(Outcome::diverged, 2), "DIVERGED  1 of 2 tensors differs\n\n"},
      {"other tensors", verdict_of(Outcome::diverged, 2),
       "DIVERGED  copies of one tensor are not the same; the two sides' tensors are equal\n\n"},
      {"not comparable", verdict_of(Outcome::not_comparable, 0),
       "NOT COMPARABLE  other\\x1bweights\n\n"},
  };
  Verdict beside = rows[0].verdict;
  beside.findings.resize(3);
  CHECK(head_section(beside, {}).starts_with("EQUAL, with 3 errors  1,234 tensors"));
  rows[1].verdict.tally.casts = {{"rounding", 1}, {"widening", 2}};
  rows[2].verdict.tally.outcomes[static_cast<std::size_t>(Outcome::noise)] = 1;
  rows[3].verdict.tally.outcomes[static_cast<std::size_t>(Outcome::diverged)] = 1;
  rows[5].verdict.reason = "other\x1bweights";
  for (const auto& row : rows) {
    INFO(row.what);
    CHECK(head_section(row.verdict, {}) == row.line);
  }
  CHECK(head_section(rows[0].verdict, {.color = true})
            .starts_with("\x1b[1;32mEQUAL\x1b[0m  1,234 tensors"));
}

TEST_CASE("what one side lacks is said, and that the others are equal") {
  const auto line = [](Verdict verdict) {
    const std::string text = head_section(verdict, {});
    return text.substr(0, text.find('\n'));
  };
  const auto unmet = [](Code code, const std::string& name, Phase phase = Phase::none) {
    Finding finding;
    finding.code = code;
    finding.tensor = name;
    finding.phase = phase;
    finding.severity = Severity::error;
    return finding;
  };
  Verdict verdict = verdict_of(Outcome::diverged, 110);
  verdict.coverage.weights = 36;
  verdict.findings = {unmet(Code::missing, "a.w"), unmet(Code::missing, "b.w")};
  CHECK(line(verdict) == "MISSING  2 of 38 weights; the others are equal");
  verdict.tally.outcomes[static_cast<std::size_t>(Outcome::noise)] = 1;
  CHECK(line(verdict) == "MISSING  2 of 38 weights; the others are equal or within their limits");
  verdict.tally.outcomes = {};
  verdict.findings.push_back(unmet(Code::unexpected, "c.w"));
  CHECK(line(verdict) == "MISSING  2 of 38 weights, and 1 unexpected; the others are equal");
  verdict.findings = {unmet(Code::unexpected, "c.w@exp_avg")};
  CHECK(line(verdict) == "UNEXPECTED  1 of 111 tensors; the others are equal");
  verdict.findings = {unmet(Code::missing, "a/output.0", Phase::forward)};
  CHECK(line(verdict) == "MISSING  1 of 111 records; the others are equal");
  verdict.findings = {unmet(Code::shape_or_dtype, "a.w")};
  CHECK(line(verdict) == "OTHER SHAPES  1 of 110 tensors; the others are equal");
  verdict.findings.front().severity = Severity::note;
  CHECK(line(verdict).starts_with("DIVERGED  "));
}

TEST_CASE("how names met, and what lies beside the weights, are said") {
  Verdict verdict = verdict_of(Outcome::equal, 39);
  verdict.tally.rules = {{"same", 1}, {"prefix net\x1b. of the candidate", 38}};
  verdict.tally.rules["equal bytes, concat(0)"] = 2;
  const std::string text = head_section(verdict, {});
  CHECK(text.starts_with("EQUAL  39 tensors, bit for bit\n"));
  CHECK(text.find("met without the prefix net\\x1b. of the candidate; 2 met under") !=
        std::string::npos);
  verdict.tally.rules = {};
  verdict.coverage.beside = {{"copy ema", 0, 39}, {"loss", 0, 1}};
  CHECK(head_section(verdict, {.width = 200})
            .starts_with("EQUAL  all 39 of the reference, bit for bit; 40 more only in the "
                         "candidate (copy ema "
                         "39, loss 1)\n"));
  verdict.coverage.beside.back().reference = 2;
  CHECK(head_section(verdict, {.width = 200})
            .starts_with("EQUAL  39 tensors, bit for bit; 2 more only in the "
                         "reference (loss 2); 40 "
                         "more only in the candidate (copy ema 39, loss 1)\n"));
}

TEST_CASE("a run: format, mesh, tensors, bytes, steps") {
  RunSummary run{"a", "hf\n", {}, {}, 1, 1536};
  CHECK(run_words(run) == "hf\\n, 1 tensor, 1.5 KiB");
  run.mesh.axes = {{"tp", 4}, {"pp", 1}};
  run.tensors = 2;
  run.steps = {12};
  CHECK(run_words(run) == "hf\\n, tp=4, 2 tensors, 1.5 KiB, step 12");
  run.steps = {10, 11, 12};
  CHECK(run_words(run) == "hf\\n, tp=4, 2 tensors, 1.5 KiB, steps 10-12");
}

TEST_CASE("both runs stand below each other; a long path pushes only its own words") {
  Verdict verdict = verdict_of(Outcome::equal, 0);
  const auto runs = [&] {
    const std::string text = head_section(verdict, {.width = 200});
    return text.substr(text.find("\n\n") + 2);
  };
  const RunSummary run{"", "f", {}, {}, 1, 1};
  CHECK(runs().empty());
  verdict.candidate = run;
  verdict.candidate->path = "b";
  CHECK(runs() == "  candidate  b  f, 1 tensor, 1 B\n");
  verdict.reference = run;
  verdict.reference->path = "aa\n";
  CHECK(runs() ==
        "  reference  aa\\n  f, 1 tensor, 1 B\n"
        "  candidate  b     f, 1 tensor, 1 B\n");
  for (const std::size_t length : {60u, 61u}) {
    verdict.reference->path = std::string(length, 'a');
    CHECK(runs() == "  reference  " + verdict.reference->path + "  f, 1 tensor, 1 B\n" +
                        "  candidate  b" + std::string(59, ' ') + "  f, 1 tensor, 1 B\n");
  }
}

}  // namespace
}  // namespace ttcheck::reports
