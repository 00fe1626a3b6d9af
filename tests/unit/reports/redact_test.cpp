// SPDX-License-Identifier: Apache-2.0
#include "reports/redact.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace ttcheck::reports {
namespace {

const std::vector<Secret> kSecrets = {{"node17", "HOST"}, {"anna", "USER"}};

Verdict of_two(const std::string& reference, const std::string& candidate) {
  Verdict verdict;
  verdict.reference = RunSummary{reference, "hf", {}, {}, 0, 0};
  verdict.candidate = RunSummary{candidate, "hf", {}, {}, 0, 0};
  return verdict;
}

std::string said(const std::string& message) {
  Verdict verdict = of_two("runs/a", "runs/a-b");
  verdict.findings.emplace_back();
  verdict.findings.back().message = message;
  return redacted(verdict, kSecrets).findings.front().message;
}

TEST_CASE("paths and names are replaced where they stand as words") {
  CHECK(said("runs/a-b differs from runs/a") == "CANDIDATE differs from REFERENCE");
  CHECK(said("read /data/x y.bin, then '/home/anna/z'") == "read PATH y.bin, then 'PATH'");
  CHECK(said("by anna on node17: no annals, node170") == "by USER on HOST: no annals, node170");
  CHECK(said("a / b is 0.5 and/or 1/2") == "a / b is 0.5 and/or 1/2");
  CHECK(said("see ~/notes or ../other/run") == "see PATH or PATH");
  CHECK(said("layers.0.attn.core/output.0 is off") == "layers.0.attn.core/output.0 is off");
}

TEST_CASE("of a file its run and its own name stay") {
  Verdict verdict = of_two("runs/a", "runs/b");
  verdict.findings.resize(2);
  verdict.findings[0].where = Where{.file = "runs/b/step-1/rank-0.bin", .offset = 7};
  verdict.findings[0].reference_where = Where{.file = "runs/a", .offset = 3};
  verdict.findings[1].where = Where{.file = "/elsewhere/blob"};
  const Verdict told = redacted(verdict, kSecrets);
  CHECK(told.findings[0].where->file == "CANDIDATE/rank-0.bin");
  CHECK(told.findings[0].where->offset == 7);
  CHECK(told.findings[0].reference_where->file == "REFERENCE");
  CHECK(told.findings[1].where->file == "PATH");
}

TEST_CASE("what explains a difference begins where it did") {
  Verdict verdict = of_two("runs/a", "runs/b");
  Finding& finding = verdict.findings.emplace_back();
  finding.message = "runs/a is off; as runs/b has it; and /x/y";
  finding.why = finding.message.find("; as") + 2;
  finding.aside = finding.message.find("; and");
  finding.next = {"ttcheck", "show"};
  const Finding told = redacted(verdict, kSecrets).findings.front();
  CHECK(told.message.substr(told.why, told.aside - told.why) == "as CANDIDATE has it");
  CHECK(told.message.substr(told.aside) == "; and PATH");
  CHECK(told.next.empty());
}

TEST_CASE("values go, shapes and errors stay; settings are told by name") {
  Verdict verdict = of_two("runs/a", "runs/b");
  TensorResult& result = verdict.tensors.emplace_back();
  result.values = {1, 2};
  result.error = 0.5;
  result.shape = {2, 3};
  Finding& finding = verdict.findings.emplace_back();
  finding.code = Code::config;
  finding.message = "optimizer.lr is 0.1 in the reference and 0.2 in the candidate";
  verdict.facts.push_back({"optimizer.lr", FactValue(0.1), FactValue(0.2), "differs"});
  verdict.argv = {"diff", "runs/a", "--layout=x.toml", "--map", "m.toml", "runs/b"};
  const Verdict told = redacted(verdict, kSecrets);
  CHECK_FALSE(told.tensors.front().values);
  CHECK(told.tensors.front().error == 0.5);
  CHECK(told.tensors.front().shape == Shape{2, 3});
  CHECK(told.findings.front().message == "optimizer.lr is not the same on both sides");
  CHECK(*told.facts.front().reference == FactValue(std::string("(left out)")));
  CHECK(told.argv == std::vector<std::string>{"diff", "REFERENCE", "--layout=PATH", "--map", "PATH",
                                              "CANDIDATE"});
}

}  // namespace
}  // namespace ttcheck::reports
