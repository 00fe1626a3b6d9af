// SPDX-License-Identifier: Apache-2.0
#include "core/locate/first.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

namespace ttcheck::locate {
namespace {

TensorResult result(const std::string& name, Kind kind, Outcome outcome) {
  TensorResult made;
  made.identity = {name, Phase::forward, 3, 0};
  made.kind = kind;
  made.by_limit = outcome;
  made.trace = std::make_shared<TraceRecord>();
  return made;
}

TEST_CASE("the first that diverged, in their order") {
  std::vector<TensorResult> results = {result("a/output.0", Kind::output, Outcome::noise),
                                       result("b/output.0", Kind::output, Outcome::equal)};
  CHECK_FALSE(first_diverged(results));
  CHECK_FALSE(first_diverged({}));
  results.push_back(result("c/output.0", Kind::output, Outcome::diverged));
  results.push_back(result("d/output.0", Kind::output, Outcome::diverged));
  CHECK(first_diverged(results) == 2);
}

TEST_CASE("a divergence is placed by step, phase, micro-batch, ranks and worst element") {
  TensorResult made = result("m.mlp/output.0", Kind::output, Outcome::diverged);
  made.step = 7;
  made.shape = {2, 3};
  made.wrong_ranks = {1};
  made.metrics.max_abs = 2;
  made.metrics.max_abs_index = 4;
  Mesh mesh;
  mesh.axes = {{"tp", 2}};
  const Divergence first = divergence_of(made, false, mesh);
  CHECK(first.step == 7);
  CHECK(first.phase == Phase::forward);
  CHECK(first.microbatch == 3);
  CHECK(first.op == "m.mlp");
  CHECK(first.tensor == "m.mlp/output.0");
  CHECK(first.ranks == std::vector<std::int32_t>{1});
  CHECK(first.axes == AxisCoordinates{{"tp", {1}}});
  CHECK(first.index == Extents{1, 1});
  CHECK(first.introduced == false);
  made.metrics = {};
  CHECK_FALSE(divergence_of(made, {}, mesh).index);
  for (const Phase phase : {Phase::sync, Phase::clip, Phase::optimizer}) {
    made.identity.phase = phase;  // of all micro-batches
    CHECK_FALSE(divergence_of(made, {}, mesh).microbatch);
  }
  made.identity.phase = Phase::backward;
  CHECK(divergence_of(made, {}, mesh).microbatch == 3);
  made.trace = nullptr;  // a checkpoint has none
  CHECK_FALSE(divergence_of(made, {}, mesh).microbatch);
}

}  // namespace
}  // namespace ttcheck::locate
