#include "core/locate/chains.hpp"

#include <doctest/doctest.h>

namespace ttcheck::locate {
namespace {

struct Step {
  std::vector<Identity> identities;
  std::vector<Kind> kinds;

  void add(Phase phase, std::string name, Kind kind, std::int32_t microbatch = 0) {
    identities.push_back({std::move(name), phase, microbatch, 0});
    kinds.push_back(kind);
  }

  std::vector<Chain> chains() const {
    std::vector<RecordPlace> records;
    for (std::size_t i = 0; i < kinds.size(); ++i) records.push_back({&identities[i], kinds[i]});
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

}  // namespace
}  // namespace ttcheck::locate
