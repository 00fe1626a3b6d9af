// SPDX-License-Identifier: Apache-2.0
#include "core/align/compiled_graphs.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

namespace ttcheck::align {
namespace {

Tensor record(const std::string& name, Kind kind) {
  Tensor tensor;
  tensor.identity.name = name;
  tensor.identity.phase = Phase::forward;
  tensor.kind = kind;
  tensor.trace = std::make_shared<const TraceRecord>();
  return tensor;
}

/// What of the reference stays alone, where the candidate compiled these.
std::vector<std::string> left_by(const std::vector<std::string>& graphs) {
  const std::vector<Tensor> reference = {
      record("root/output.0", Kind::output), record("layers.1/output.0", Kind::output),
      record("layers.1.up/output.0", Kind::output), record("layers.10.up/input.0", Kind::input),
      record("layers.1.up/param.weight", Kind::weight)};
  Bench bench{reference, {}, {0, 1, 2, 3, 4}, {}, {}};
  exclude_in_graphs(bench, graphs, "candidate");
  CHECK(bench.done.excluded_by.size() == (graphs.empty() ? 0 : 1));
  std::vector<std::string> left;
  for (const std::size_t i : bench.left) left.push_back(reference[i].identity.name);
  return left;
}

TEST_CASE("nothing is missing inside a graph, and nothing else is left out") {
  using Names = std::vector<std::string>;
  CHECK(left_by({}).size() == 5);
  CHECK(left_by({"layers.1"}) == Names{"root/output.0", "layers.1/output.0", "layers.10.up/input.0",
                                       "layers.1.up/param.weight"});
  CHECK(left_by({"root"}) == Names{"root/output.0", "layers.1.up/param.weight"});
}

TEST_CASE("a run lists its graphs") {
  const auto fact = [](const char* name, FactValue value) {
    Fact made;
    made.name = name;
    made.value = std::move(value);
    return made;
  };
  const std::vector<Fact> facts = {fact("graphs.0", std::string("a.b")),
                                   fact("graphs.1", std::int64_t{3}),
                                   fact("graph", std::string("c"))};
  CHECK(graphs_of(facts) == std::vector<std::string>{"a.b"});
}

}  // namespace
}  // namespace ttcheck::align
