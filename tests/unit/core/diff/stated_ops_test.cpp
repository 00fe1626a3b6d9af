// SPDX-License-Identifier: Apache-2.0
#include "core/diff/stated_ops.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ttcheck::diff {
namespace {

using Attributes = std::vector<std::pair<std::string, std::string>>;

struct Op {
  std::string module;
  Attributes reference, candidate;
  Phase phase = Phase::forward;
};

/// The output of `op` as a side's dump lists its call.
Tensor output_of(const Op& op, const Attributes& attributes) {
  auto record = std::make_shared<TraceRecord>();
  record->call.emplace();
  record->attrs = attributes;
  Tensor tensor;
  tensor.identity.name = op.module + " outputs";
  tensor.identity.phase = op.phase;
  tensor.kind = Kind::output;
  tensor.trace = std::move(record);
  return tensor;
}

std::vector<Finding> said_of(const std::vector<Op>& ops) {
  MetStep met;
  met.sides = std::make_shared<std::array<OpenedStep, 2>>();
  auto& [reference, candidate] = *met.sides;
  for (const Op& op : ops) {
    reference.assembly.tensors.push_back(output_of(op, op.reference));
    candidate.assembly.tensors.push_back(output_of(op, op.candidate));
  }
  std::vector<TensorResult> results(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    met.pairs.push_back({&reference.assembly.tensors[i], &candidate.assembly.tensors[i]});
    results[i].pair = i;
    results[i].step = 7;
    results[i].identity = met.pairs[i].reference->identity;
  }
  return stated_ops(met, results);
}

const Attributes kEps = {{"eps", "1e-05"}}, kOther = {{"eps", "0.3"}};

TEST_CASE("the first op of other arguments is named with its step and phase") {
  const auto said = said_of({{"linear", kEps, kEps}, {"norm", kEps, kOther}});
  REQUIRE(said.size() == 1);
  CHECK(said[0].code == Code::config);
  CHECK(said[0].severity == Severity::warning);
  CHECK(said[0].step == 7);
  CHECK(said[0].phase == Phase::forward);
  CHECK(said[0].op == "norm");
  CHECK(said[0].message == "norm has eps 0.3, the reference 1e-05");
}

TEST_CASE("others are counted, each once") {
  const Op norm{"norm", kEps, kOther}, twice{"norm", kEps, kOther}, last{"last", kEps, kOther};
  CHECK(said_of({norm, last}).front().message.ends_with("1e-05; another op has so, too"));
  CHECK(said_of({norm, twice}).front().message.ends_with("1e-05"));
  CHECK(said_of({norm, last, {"head", kEps, kOther}}).front().message.ends_with("2 more ops"));
}

TEST_CASE("what both list alike, one alone lists, or is no op of the forward pass is not named") {
  CHECK(said_of({{"norm", kEps, kEps}}).empty());
  CHECK(said_of({{"norm", kEps, {}}, {"norm", {}, kEps}}).empty());
  CHECK(said_of({{"norm", kEps, kOther, Phase::backward}}).empty());
}

}  // namespace
}  // namespace ttcheck::diff
