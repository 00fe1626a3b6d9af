// SPDX-License-Identifier: Apache-2.0
// Pickles: the graph, what is said of it, and the paths in it.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/bytes/pickle.hpp"
#include "formats/bytes/stream.hpp"
#include "formats/objects/judge.hpp"
#include "formats/torch/facts.hpp"
#include "formats/torch/walk.hpp"
#include "tests/support/memory_source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ttcheck;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const tests::MemorySource source({bytes, bytes + size});
  formats::Stream in(source);
  const formats::Pickle pickle = formats::read_pickle(in);
  std::vector<Finding> findings;
  formats::judge_pickle(pickle, "pickle", findings);
  formats::Leaves leaves;
  formats::WalkBudget budget(pickle);
  formats::add_leaves(pickle.root(), "", true, budget, leaves);
  for (const formats::Leaf& leaf : leaves.others) formats::fact_of(leaf);
  return 0;
}
