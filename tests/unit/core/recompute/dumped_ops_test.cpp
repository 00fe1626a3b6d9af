// SPDX-License-Identifier: Apache-2.0
// Ops as msprobe dumps them, each against itself and with one element off. What is right torch
// computed (samples/make_msprobe.py), so each formula is held to it.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/assemble/assemble.hpp"
#include "core/recompute/recompute.hpp"
#include "formats/open.hpp"
#include "tests/support/project_file.hpp"

namespace ttcheck::recompute {
namespace {

struct Dump {
  explicit Dump(const std::string& sample)
      : run(*formats::open(tests::project_file("samples/" + sample))),
        tensors(assemble::assemble(run.open(0), run.mesh, {}).tensors) {}

  const Tensor& named(const std::string& name) const {
    const auto found =
        std::ranges::find(tensors, name, [](const Tensor& tensor) { return tensor.identity.name; });
    REQUIRE(found != tensors.end());
    return *found;
  }

  Run run;
  std::vector<Tensor> tensors;
  Parameters none;
};

TEST_CASE("what msprobe dumped of torch's functions follows from what went into them") {
  const Dump dump("msprobe-ops/reference");
  const Graph graph(dump.tensors, dump.none, 1);
  Recompute recompute(graph, graph, {});
  std::size_t right = 0;
  std::set<std::string> unknown;
  for (const Tensor& tensor : dump.tensors) {
    if (tensor.kind != Kind::output && tensor.kind != Kind::grad_input) continue;
    const Recomputed found = recompute.judge(tensor, tensor, -1);
    CHECK(found.state != Recomputed::State::wrong);
    if (found.state == Recomputed::State::right) ++right;
    if (found.state == Recomputed::State::unknown) unknown.insert(tensor.identity.name);
  }
  CHECK(right == 38);
  // What autograd's own functions put out there is no gradient of the function that was called: the
  // product of flattened rows, the logarithm of softmax.
  CHECK(unknown ==
        std::set<std::string>{
            "Functional.cross_entropy.0.backward/output.0", "Functional.linear.0.backward/output.0",
            "Functional.linear.1.backward/output.0", "Functional.linear.2.backward/output.0",
            "Functional.linear.3.backward/output.0", "Torch.matmul.0.backward/output.0"});
}

TEST_CASE("a function that computes something else than it says is wrong by itself") {
  const Dump reference("msprobe-ops/reference"), candidate("msprobe-ops/kernel");
  const Graph left(reference.tensors, reference.none, 1),
      right(candidate.tensors, candidate.none, 1);
  Recompute recompute(left, right, {});
  const auto judge = [&](const std::string& name) {
    return recompute.judge(reference.named(name), candidate.named(name), -1).state;
  };
  CHECK(judge("Functional.silu.0.forward/output.0") == Recomputed::State::wrong);
  CHECK(judge("Tensor.__mul__.0.forward/output.0") == Recomputed::State::right);
  CHECK(judge("Functional.cross_entropy.0.forward/output.0") == Recomputed::State::right);
}

}  // namespace
}  // namespace ttcheck::recompute
