// SPDX-License-Identifier: Apache-2.0
#include "core/bisect/chains.hpp"

#include <doctest/doctest.h>

namespace ttcheck::bisect {
namespace {

struct Step {
  std::vector<Identity> identities;
  std::vector<Kind> kinds;
  std::vector<bool> behind;

  void add(Phase phase, std::string name, Kind kind, std::int32_t microbatch = 0,
           bool is_behind = false) {
    identities.push_back({std::move(name), phase, microbatch, 0});
    kinds.push_back(kind);
    behind.push_back(is_behind);
  }

  std::vector<Chain> chains() const {
    std::vector<RecordPlace> records;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      records.push_back({&identities[i], kinds[i], behind[i]});
    }
    return chains_of(records);
  }
};

TEST_CASE("the last output of each block, by phase and micro-batch") {
  Step step;
  step.add(Phase::state, "embedding/param.weight", Kind::weight);
  step.add(Phase::forward, "embedding/input.0", Kind::input);
  step.add(Phase::forward, "embedding/output.0", Kind::output);         // 2
  step.add(Phase::forward, "layers.0.attn/output.0", Kind::output);     // 3
  step.add(Phase::forward, "layers.0.mlp.act/output.0", Kind::output);  // 4
  step.add(Phase::forward, "layers.1.attn/output.0", Kind::output);     // 5
  step.add(Phase::forward, "embedding/output.0", Kind::output, 1);      // 6
  step.add(Phase::loss, "loss/loss.0", Kind::loss);                     // 7
  step.add(Phase::backward, "layers.1.attn/grad.weight", Kind::grad);   // 8
  step.add(Phase::backward, "layers.1.attn/grad_input.0", Kind::grad_input);
  step.add(Phase::sync, "layers.1.attn/main_grad.weight", Kind::main_grad);
  const std::vector<Chain> chains = step.chains();
  REQUIRE(chains.size() == 4);
  CHECK(chains[0].begin == 1);
  CHECK(chains[0].ends == std::vector<std::size_t>{2, 4, 5});
  CHECK(chains[0].end == 6);
  CHECK(chains[1].ends == std::vector<std::size_t>{6});
  CHECK(chains[2].ends == std::vector<std::size_t>{7});
  CHECK(chains[3].begin == 8);
  CHECK(chains[3].ends == std::vector<std::size_t>{9});
}

TEST_CASE("a phase without outputs is no chain") {
  Step step;
  step.add(Phase::backward, "layers.0/grad.weight", Kind::grad);
  CHECK(step.chains().empty());
}

TEST_CASE("what is handed on backward are gradients, and a module without a number is a block") {
  Step step;
  step.add(Phase::backward, "head/grad_output.0", Kind::grad_output);       // 0
  step.add(Phase::backward, "head/grad_input.0", Kind::grad_input);         // 1
  step.add(Phase::backward, "norm/output.0", Kind::output);                 // no gradient
  step.add(Phase::backward, "layers.11.b/grad_input.0", Kind::grad_input);  // 3
  step.add(Phase::backward, "layers.1.b/grad_input.0", Kind::grad_input);   // 4
  step.add(Phase::backward, "layers.1.2.a/grad_input.0", Kind::grad_input);
  step.add(Phase::backward, "layers.1/grad.weight", Kind::grad);
  step.add(Phase::backward, "layers.1.a/grad_output.0", Kind::grad_output);  // 7
  step.add(Phase::backward, "x2/grad_input.0", Kind::grad_input);            // 8
  step.add(Phase::backward, "x3/grad_input.0", Kind::grad_input);            // 9
  const std::vector<Chain> chains = step.chains();
  REQUIRE(chains.size() == 1);
  CHECK(chains[0].ends == std::vector<std::size_t>{1, 3, 7, 8, 9});
  CHECK(chains[0].begin == 0);
  CHECK(chains[0].end == 10);
}

TEST_CASE("what ran behind the backward pass is in no chain") {
  Step step;
  step.add(Phase::forward, "a/output.0", Kind::output);
  step.add(Phase::forward, "b/output.0", Kind::output, 0, true);
  step.add(Phase::forward, "c/output.0", Kind::output);
  const std::vector<Chain> chains = step.chains();
  REQUIRE(chains.size() == 1);
  CHECK(chains[0].ends == std::vector<std::size_t>{0, 2});
}

TEST_CASE("a chain begins anew with its first block") {
  Step step;
  for (const std::int32_t microbatch : {0, 1}) {
    step.add(Phase::forward, "layers.0.a/output.0", Kind::output, microbatch);
    step.add(Phase::forward, "layers.0.b/output.0", Kind::output, microbatch);
  }
  const std::vector<Chain> chains = step.chains();
  REQUIRE(chains.size() == 2);
  CHECK(chains[0].ends == std::vector<std::size_t>{1});
  CHECK(chains[1].ends == std::vector<std::size_t>{3});
}

}  // namespace
}  // namespace ttcheck::bisect
