// SPDX-License-Identifier: Apache-2.0
#include "core/diff/first_unmet.hpp"

#include <doctest/doctest.h>

#include <string>

namespace ttcheck::diff {
namespace {

Finding error_of(const std::string& tensor, std::optional<std::int64_t> step = {}) {
  Finding finding;
  finding.code = Code::missing;
  finding.tensor = tensor;
  finding.step = step;
  return finding;
}

TEST_CASE("the first tensor that did not meet, in the order of the model") {
  Verdict verdict;
  CHECK_FALSE(first_unmet(verdict));
  verdict.findings = {error_of("lm_head.weight"), error_of("model.layers.10.mlp.up_proj.weight"),
                      error_of("model.layers.9.mlp.up_proj.weight"),
                      error_of("model.layers.9.self_attn.q_proj.weight")};
  CHECK(first_unmet(verdict)->tensor == "model.layers.9.self_attn.q_proj.weight");
  verdict.findings.push_back(error_of("model.embed_tokens.weight"));
  verdict.findings.back().severity = Severity::warning;
  verdict.findings.push_back(error_of("model.embed_tokens.weight"));
  verdict.findings.back().incomplete = true;
  verdict.findings.push_back(error_of(""));
  CHECK(first_unmet(verdict)->tensor == "model.layers.9.self_attn.q_proj.weight");
}

TEST_CASE("an earlier step comes first") {
  Verdict verdict;
  verdict.findings = {error_of("model.embed_tokens.weight", 20), error_of("lm_head.weight", 10)};
  const auto first = first_unmet(verdict);
  REQUIRE(first);
  CHECK(first->tensor == "lm_head.weight");
  CHECK(first->step == 10);
}

}  // namespace
}  // namespace ttcheck::diff
