// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "reports/terminal.hpp"

namespace ttcheck::reports {
namespace {

Verdict verdict_of(Outcome outcome) {
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.coverage.paired = 3;
  verdict.coverage.bytes_compared = 4096;
  return verdict;
}

TEST_CASE("of info: what was read, if anything was") {
  Verdict verdict;
  CHECK(last_line(verdict) == "ttcheck: NOT-READ");
  verdict.reference = RunSummary{"a", "a format", {}, {}, 2, 30};
  CHECK(last_line(verdict) == "ttcheck: INFO format=a_format tensors=2 bytes=30 complete=yes");
  verdict.complete = false;
  verdict.reference->format = "";
  CHECK(last_line(verdict) == "ttcheck: INFO format=- tensors=2 bytes=30 complete=no");
  verdict.reference->tensors = 0;  // nothing is known but its path
  CHECK(last_line(verdict) == "ttcheck: NOT-READ");
}

TEST_CASE("without a first difference: what was compared") {
  Verdict verdict = verdict_of(Outcome::equal);
  CHECK(last_line(verdict) == "ttcheck: EQUAL tensors=3 bytes=4096 complete=yes");
  verdict.findings.resize(2);
  verdict.findings[1].severity = Severity::warning;
  CHECK(last_line(verdict) == "ttcheck: EQUAL tensors=3 bytes=4096 complete=yes errors=1");
  verdict.findings.clear();
  verdict.complete = false;
  verdict.outcome = Outcome::noise;
  CHECK(last_line(verdict) == "ttcheck: NOISE tensors=3 bytes=4096 complete=no");
  verdict.outcome = Outcome::not_comparable;
  verdict.reason = "other weights\nmore";
  CHECK(last_line(verdict) ==
        "ttcheck: NOT-COMPARABLE reason=other_weights tensors=3 bytes=4096 complete=no");
  verdict.reason =
      "several runs could be meant, name one: alpha, beta, gamma, delta, epsilon, zeta";
  CHECK(
      last_line(verdict).starts_with("ttcheck: NOT-COMPARABLE "
                                     "reason=several_runs_could_be_meant,_name_one tensors="));
  verdict.reason = "the reference is of another model than the candidate is, as its config says";
  CHECK(last_line(verdict).starts_with(
      "ttcheck: NOT-COMPARABLE "
      "reason=the_reference_is_of_another_model_than_the_candidate_is,_as... tensors="));
}

TEST_CASE("what a search came to stands last") {
  Verdict verdict = verdict_of(Outcome::equal);
  verdict.search = Search{};
  CHECK(last_line(verdict) == "ttcheck: EQUAL tensors=3 bytes=4096 complete=yes first_bad=-");
  verdict.search->first_bad_op = "layers.0 mlp";
  CHECK(last_line(verdict).ends_with(" complete=yes first_bad=layers.0_mlp"));
  verdict.search->first_bad_step = 40;
  CHECK(last_line(verdict).ends_with(" complete=yes first_bad=40"));
  verdict.first = Divergence{};
  CHECK(last_line(verdict).ends_with(" ranks=- first_bad=40"));
}

TensorResult result() {
  TensorResult made;
  made.by_limit = Outcome::diverged;
  made.identity.name = "w";
  made.identity.phase = Phase::forward;
  made.step = 7;
  made.ratio = 2.5;
  return made;
}

Divergence first() {
  Divergence made;
  made.tensor = "w";
  made.op = "o p";
  made.phase = Phase::forward;
  made.step = 7;
  return made;
}

TEST_CASE("a first difference: its name, step, ratio, ranks") {
  Verdict verdict = verdict_of(Outcome::diverged);
  verdict.first = first();
  CHECK(last_line(verdict) == "ttcheck: DIVERGED first=w step=7 ratio=- ranks=-");
  verdict.first->ranks = {0, 1, 2};
  verdict.tensors = {result()};
  CHECK(last_line(verdict) == "ttcheck: DIVERGED first=w step=7 ratio=2.5 ranks=0-2");
  verdict.first->tensor = "";
  verdict.first->step = {};
  CHECK(last_line(verdict) == "ttcheck: DIVERGED first=o_p step=- ratio=- ranks=0-2");
}

TEST_CASE("the ratio is that of the result with its name, phase and step that diverged") {
  const auto ratio = [](auto change) {
    Verdict verdict = verdict_of(Outcome::diverged);
    verdict.first = first();
    verdict.tensors = {result()};
    change(verdict.tensors[0]);
    const std::string line = last_line(verdict);
    const std::size_t at = line.find("ratio=") + 6;
    return line.substr(at, line.find(' ', at) - at);
  };
  CHECK(ratio([](TensorResult&) {}) == "2.5");
  CHECK(ratio([](TensorResult& one) { one.by_limit = Outcome::noise; }) == "-");
  CHECK(ratio([](TensorResult& one) { one.identity.name = "v"; }) == "-");
  CHECK(ratio([](TensorResult& one) { one.identity.phase = Phase::loss; }) == "-");
  CHECK(ratio([](TensorResult& one) { one.step = 8; }) == "-");
}

TEST_CASE("or that of a finding with its name and step") {
  Verdict verdict = verdict_of(Outcome::diverged);
  verdict.first = first();
  Finding about;
  about.tensor = "w";
  about.step = 7;
  Finding other = about, later = about;
  about.ratio = 9;
  other.ratio = later.ratio = 1;
  other.tensor = "v";
  later.step = 8;
  Finding none = about;
  none.ratio.reset();
  verdict.findings = {none, other, later, about};
  CHECK(last_line(verdict) == "ttcheck: DIVERGED first=w step=7 ratio=9 ranks=-");
}

}  // namespace
}  // namespace ttcheck::reports
