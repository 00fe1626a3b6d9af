// SPDX-License-Identifier: Apache-2.0
#include "core/model/identity.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace ttcheck {
namespace {

TEST_CASE("phases have the words of the trace, in causal order") {
  const std::vector<std::pair<std::string, Phase>> words = {
      {"state", Phase::state},         {"forward", Phase::forward}, {"loss", Phase::loss},
      {"backward", Phase::backward},   {"sync", Phase::sync},       {"clip", Phase::clip},
      {"optimizer", Phase::optimizer}, {"comm", Phase::comm}};
  Phase last = Phase::none;
  for (const auto& [word, phase] : words) {
    INFO(word);
    CHECK(phase_named(word) == phase);
    CHECK(name(phase) == word);
    CHECK(last < phase);
    last = phase;
  }
  CHECK(name(Phase::none).empty());
  for (const char* const word : {"", "none", "Forward", "forward ", "forwar", "loss2"}) {
    INFO(word);
    CHECK_FALSE(phase_named(word));
  }
}

TEST_CASE("a trace tensor's module is its name up to the slot; a checkpoint's is all of it") {
  struct Row {
    std::string name;
    Phase phase;
    std::string module;
  };
  for (const Row& row :
       std::vector<Row>{{"layers.0.mlp/output.0", Phase::forward, "layers.0.mlp"},
                        {"layers.0.mlp/grad_input.1", Phase::backward, "layers.0.mlp"},
                        {"a/b/output.0", Phase::forward, "a/b"},
                        {"layers.0.mlp outputs", Phase::forward, "layers.0.mlp"},
                        {"layers.0.mlp outputs.1", Phase::forward, "layers.0.mlp"},
                        {"layers.0.mlp inputs.0", Phase::forward, "layers.0.mlp"},
                        {"layers.0/mlp inputs.0", Phase::forward, "layers.0/mlp"},
                        {"layers.0 inputs", Phase::forward, "layers.0 inputs"},  // no slot follows
                        {"layersoutputs", Phase::forward, "layersoutputs"},
                        {"/output.0", Phase::forward, ""},
                        {"word", Phase::state, "word"},
                        {"", Phase::forward, ""},
                        {"layers.0.mlp/output.0", Phase::none, "layers.0.mlp/output.0"},
                        {"layers.0.mlp outputs", Phase::none, "layers.0.mlp outputs"}}) {
    INFO(row.name);
    CHECK(module_of({row.name, row.phase, 1, 2}) == row.module);
  }
}

TEST_CASE("identities are ordered by name, phase, micro-batch, call; their hashes differ") {
  const std::vector<Identity> ascending = {
      {"a", Phase::none, 0, 0},   {"a", Phase::none, 0, 1},   {"a", Phase::none, 1, 0},
      {"a", Phase::state, -1, 0}, {"a", Phase::state, 0, -1}, {"a", Phase::state, 0, 0},
      {"a", Phase::comm, 0, 0},   {"a.b", Phase::none, 0, 0}, {"b", Phase::none, 0, 0}};
  const IdentityHash hash;
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      INFO(i << " and " << j);
      CHECK((ascending[i] < ascending[j]) == (i < j));
      CHECK((ascending[i] == ascending[j]) == (i == j));
      const Identity copy = ascending[j];
      CHECK((hash(ascending[i]) == hash(copy)) == (i == j));
    }
  }
}

TEST_CASE("many records of one name have a hash each") {
  const IdentityHash hash;
  std::map<std::size_t, int> seen;
  int made = 0;
  for (int phase = 0; phase < 9; ++phase) {
    for (int microbatch = 0; microbatch < 64; ++microbatch) {
      for (int call = 0; call < 64; ++call, ++made) {
        ++seen[hash({"layers.0.mlp/output.0", static_cast<Phase>(phase), microbatch, call})];
      }
    }
  }
  CHECK(std::ssize(seen) == made);
}

}  // namespace
}  // namespace ttcheck
