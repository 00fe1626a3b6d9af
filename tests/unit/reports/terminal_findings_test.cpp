// SPDX-License-Identifier: Apache-2.0
// Findings: where each is, what it says, why, and what to run next; each code has its share of
// room.

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "reports/terminal_parts.hpp"

namespace ttcheck::reports {
namespace {

Finding finding_of(Code code, Severity severity = Severity::error) {
  Finding finding;
  finding.code = code;
  finding.severity = severity;
  finding.message = "so";
  return finding;
}

const std::string kExplain = "  next       ttcheck explain TT601\n";

TEST_CASE("where a finding is") {
  struct Row {
    std::string what;
    std::function<void(Finding&)> change;
    std::string place;
  };
  const std::vector<Row> rows = {
      {"nowhere", [](Finding&) {}, ""},
      {"a tensor", [](Finding& one) { one.tensor = "w\x1b\n"; }, ": w\\x1b\\n"},
      {"an op", [](Finding& one) { one.op = "mlp"; }, ": mlp"},
      {"a tensor of an op",
       [](Finding& one) {
         one.op = "mlp";
         one.tensor = "mlp/output.0";
         one.phase = Phase::forward;
       },
       ": forward mlp/output.0"},
      {"a phase alone", [](Finding& one) { one.phase = Phase::forward; }, ""},
      {"a step", [](Finding& one) { one.step = 0; }, ": step 0"},
      {"an element", [](Finding& one) { one.index = Extents{5, 2}; }, ": [5, 2]"},
      {"the element of a scalar", [](Finding& one) { one.index = Extents{}; }, ""},
      {"a rank", [](Finding& one) { one.ranks = {3}; }, ": rank 3"},
      {"ranks", [](Finding& one) { one.ranks = {0, 1, 2, 5}; }, ": ranks 0-2,5"},
      {"a file", [](Finding& one) { one.where = Where{"a\n"}; }, ": a\\n"},
      {"a byte of it", [](Finding& one) { one.where = Where{"a\x1b", 0}; }, ": a\\x1b at byte 0"},
      {"no file", [](Finding& one) { one.where = Where{"", 4}; }, ""},
      {"the reference's file", [](Finding& one) { one.reference_where = Where{"r", 4}; },
       ": r at byte 4"},
      {"a file of each",
       [](Finding& one) {
         one.where = Where{"c", 8};
         one.reference_where = Where{"r", 4};
       },
       ": c at byte 8"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Verdict verdict;
    row.change(verdict.findings.emplace_back(finding_of(Code::diverged)));
    CHECK(findings_section(verdict, {}) ==
          "\n1 error\nerror TT601 diverged" + row.place + "\n  says       so\n" + kExplain);
  }
}

TEST_CASE("what a finding says, why, and what to run next") {
  struct Row {
    std::string what;
    std::function<void(Finding&)> change;
    std::string text;
  };
  const std::string says = "  says       so\n";
  const std::vector<Row> rows = {
      {"nothing more", [](Finding&) {}, says + kExplain},
      {"a message that a name would break", [](Finding& one) { one.message = "so\n\x1b^"; },
       "  says       so\\n\\x1b^\n" + kExplain},
      {"a long message",
       [](Finding& one) { one.message = std::string(50, 'x') + " " + std::string(50, 'y'); },
       "  says       " + std::string(50, 'x') + "\n             " + std::string(50, 'y') + "\n" +
           kExplain},
      {"lines to paste", [](Finding& one) { one.paste = "[[map]]\nfrom = \"a\"\n"; },
       says + "[[map]]\nfrom = \"a\"\n" + kExplain},
      {"two reasons",
       [](Finding& one) {
         one.hypotheses = {{"scale", {{"k", 0.5}}, 0, 1}, {"off\nset", {}, 0.25, 1}};
       },
       says +
           "  because    scale k=0.5, residual 0\n"
           "  because    off\\nset, residual 0.25\n" +
           kExplain},
      {"a command", [](Finding& one) { one.next = {"ttcheck", "show", "a b"}; },
       says + "  next       ttcheck show 'a b'\n"},
      {"a command longer than a line",
       [](Finding& one) { one.next = {std::string(60, 'x'), std::string(60, 'y')}; },
       says + "  next       " + std::string(60, 'x') + " " + std::string(60, 'y') + "\n"},
      {"a word too long to paste", [](Finding& one) { one.next = {std::string(1001, 'x')}; }, says},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Verdict verdict;
    row.change(verdict.findings.emplace_back(finding_of(Code::diverged)));
    CHECK(findings_section(verdict, {}) == "\n1 error\nerror TT601 diverged\n" + row.text);
  }
}

TEST_CASE("errors stand before warnings, and these before notes") {
  Verdict verdict;
  CHECK(findings_section(verdict, {}).empty());
  verdict.findings = {finding_of(Code::config, Severity::note),
                      finding_of(Code::scale, Severity::warning), finding_of(Code::diverged),
                      finding_of(Code::missing)};
  const std::string diverged = " TT601 diverged\n  says       so\n" + kExplain;
  const std::string missing =
      " TT305 missing\n  says       so\n  next       ttcheck explain TT305\n";
  const std::string scale = " TT201 scale\n  says       so\n  next       ttcheck explain TT201\n";
  const std::string config = " TT309 config\n  says       so\n  next       ttcheck explain TT309\n";
  CHECK(findings_section(verdict, {}) == "\n2 errors, 1 warning, 1 note\nerror" + diverged +
                                             "error" + missing + "warning" + scale + "note" +
                                             config);
  verdict.findings.pop_back();
  CHECK(findings_section(verdict, {.color = true}) ==
        "\n\x1b[1m1 error, 1 warning, 1 note\x1b[0m\n\x1b[1;31merror\x1b[0m" + diverged +
            "\x1b[1;33mwarning\x1b[0m" + scale + "\x1b[1;36mnote\x1b[0m" + config);
}

TEST_CASE("of one code the next command is told once, unless it is another") {
  Verdict verdict;
  verdict.findings = std::vector<Finding>(3, finding_of(Code::diverged));
  verdict.findings[2].next = {"go"};
  const std::string one = "error TT601 diverged\n  says       so\n";
  CHECK(findings_section(verdict, {}) ==
        "\n3 errors\n" + one + kExplain + one + one + "  next       go\n");
}

TEST_CASE("at most `top` findings are listed, a third of them of one code") {
  struct Row {
    std::string what;
    std::vector<Code> codes;
    int top;
    std::string listed;  ///< a letter each: d(iverged), m(issing), s(cale)
    std::string rest;
  };
  constexpr Code kD = Code::diverged;
  constexpr Code kM = Code::missing;
  constexpr Code kS = Code::scale;
  const std::vector<Row> rows = {
      {"all", {kD, kD, kD, kD, kD}, 0, "ddddd", ""},
      {"a third of ten", {kD, kD, kD, kD}, 10, "ddd", "... and 1 TT601 more (--top 0)\n"},
      {"as many as that", {kD, kD, kD, kM}, 10, "dddm", ""},
      {"one", {kD, kM}, 1, "d", "... and 1 TT305 more (--top 0)\n"},
      {"a third of two is one", {kD, kD, kM}, 2, "dm", "... and 1 TT601 more (--top 0)\n"},
      {"one less", {kD, kM, kS}, 2, "dm", "... and 1 TT201 more (--top 0)\n"},
      {"as many as there are", {kD, kM, kS}, 3, "dms", ""},
      {"room that one code leaves",
       {kD, kD, kD, kM, kS},
       4,
       "dms",
       "... and 2 TT601 more (--top 0)\n"},
      {"two of each at most",
       {kM, kD, kD, kD, kM, kM, kS},
       6,
       "mddms",
       "... and 1 TT305, 1 TT601 more (--top 0)\n"},
      {"many", std::vector<Code>(1234, kM), 1, "m", "... and 1,233 TT305 more (--top 0)\n"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Verdict verdict;
    for (const Code code : row.codes) verdict.findings.push_back(finding_of(code));
    const std::string text = findings_section(verdict, {.top = row.top});
    std::string listed;
    for (std::size_t at = text.find("\nerror TT"); at != text.npos;
         at = text.find("\nerror TT", at + 1)) {
      listed += text[text.find(' ', at + 8) + 1];
    }
    CHECK(listed == row.listed);
    const std::size_t rest = text.find("... ");
    CHECK((rest == text.npos ? "" : text.substr(rest)) == row.rest);
  }
}

}  // namespace
}  // namespace ttcheck::reports
