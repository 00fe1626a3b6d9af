// SPDX-License-Identifier: Apache-2.0
#include "core/locate/order.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "core/locate/first.hpp"
#include "core/locate/preconditions.hpp"

namespace ttcheck::locate {
namespace {

Tensor record(Phase phase, std::int64_t seq, std::int32_t rank = 0, std::int32_t microbatch = 0) {
  Tensor made;
  made.identity = {"m/output.0", phase, microbatch, 0};
  auto trace = std::make_shared<TraceRecord>();
  trace->seq = seq;
  made.trace = std::move(trace);
  made.pieces.emplace_back();
  made.pieces.back().rank = rank;
  return made;
}

std::vector<std::size_t> sorted(const std::vector<Tensor>& tensors, const Mesh& mesh) {
  const auto places = causal_places(tensors, mesh);
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return places[i]; });
  return order;
}

TEST_CASE("phases, then micro-batches, then seq") {
  const std::vector<Tensor> tensors = {record(Phase::optimizer, 9), record(Phase::backward, 5),
                                       record(Phase::forward, 4, 0, 1), record(Phase::forward, 2),
                                       record(Phase::state, 30)};
  CHECK(sorted(tensors, {}) == std::vector<std::size_t>{4, 3, 2, 1, 0});
}

TEST_CASE("stages ascend in forward and descend in backward") {
  Mesh mesh;
  mesh.axes = {{"pp", 2}};
  const std::vector<Tensor> tensors = {record(Phase::forward, 1, 1), record(Phase::forward, 7, 0),
                                       record(Phase::backward, 8, 0),
                                       record(Phase::backward, 9, 1)};
  CHECK(sorted(tensors, mesh) == std::vector<std::size_t>{1, 0, 3, 2});
}

TEST_CASE("records of no trace follow their order in the file") {
  std::vector<Tensor> tensors = {record(Phase::forward, 5), record(Phase::forward, 5),
                                 record(Phase::forward, 5)};
  tensors[0].trace = tensors[2].trace = nullptr;
  tensors[0].order = 7;
  tensors[2].order = 3;
  CHECK(sorted(tensors, {}) == std::vector<std::size_t>{2, 1, 0});
}

TEST_CASE("stages count by the mesh: of virtual ones and of ranks that it has") {
  Mesh mesh;
  mesh.axes = {{"pp", 2}, {"tp", 2}};
  // pp is slower: ranks 0 and 1 are stage 0. A rank beyond the mesh, or none, is of the first.
  const std::vector<Tensor> tensors = {
      record(Phase::forward, 1, 2), record(Phase::forward, 2, 4), record(Phase::forward, 3, 1),
      record(Phase::forward, 4, kNoRank), record(Phase::forward, 5, 3)};
  CHECK(sorted(tensors, mesh) == std::vector<std::size_t>{1, 2, 3, 0, 4});
  mesh.axes = {{"vpp", 2}, {"pp", 2}};
  // Rank 1 is the second stage of the first part, rank 2 the first of the second.
  const std::vector<Tensor> parts = {record(Phase::forward, 1, 3), record(Phase::forward, 2, 2),
                                     record(Phase::forward, 3, 1), record(Phase::forward, 4, 0)};
  CHECK(sorted(parts, mesh) == std::vector<std::size_t>{3, 2, 1, 0});
  Tensor sum = record(Phase::forward, 0, 3);
  sum.terms = {sum.pieces};
  sum.pieces.clear();
  const std::vector<Tensor> summed = {sum, record(Phase::forward, 9, 0)};
  CHECK(sorted(summed, mesh) == std::vector<std::size_t>{1, 0});
  sum.terms = {{}};  // of no rank
  CHECK(sorted({record(Phase::forward, 9, 3), sum}, mesh) == std::vector<std::size_t>{1, 0});
}

TEST_CASE("a comm record stands after its neighbour on the rank") {
  const std::vector<Tensor> tensors = {record(Phase::comm, 3), record(Phase::forward, 4),
                                       record(Phase::forward, 2), record(Phase::backward, 8)};
  CHECK(sorted(tensors, {}) == std::vector<std::size_t>{2, 0, 1, 3});
}

TEST_CASE("a comm record takes phase and micro-batch of the last record before it") {
  const std::vector<Tensor> behind = {record(Phase::comm, 9), record(Phase::backward, 8),
                                      record(Phase::forward, 2)};
  CHECK(sorted(behind, {}) == std::vector<std::size_t>{2, 1, 0});
  const std::vector<Tensor> batches = {record(Phase::forward, 1, 0, 1), record(Phase::comm, 2),
                                       record(Phase::forward, 3)};
  CHECK(sorted(batches, {}) == std::vector<std::size_t>{2, 0, 1});
  const std::vector<Tensor> alone = {record(Phase::comm, 2), record(Phase::comm, 1)};
  CHECK(sorted(alone, {}) == std::vector<std::size_t>{1, 0});
}

TEST_CASE("of one seq on several ranks a comm record behind its neighbour comes last") {
  const std::vector<Tensor> behind = {record(Phase::comm, 5), record(Phase::forward, 5, 1),
                                      record(Phase::forward, 4)};
  CHECK(sorted(behind, {}) == std::vector<std::size_t>{2, 1, 0});
  const std::vector<Tensor> before = {record(Phase::comm, 5), record(Phase::forward, 5, 1),
                                      record(Phase::forward, 6)};
  CHECK(sorted(before, {}) == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("a comm record that a rank begins with takes the stage of what follows it") {
  Mesh mesh;
  mesh.axes = {{"pp", 2}};
  const std::vector<Tensor> tensors = {record(Phase::comm, 0, 1), record(Phase::forward, 1, 1),
                                       record(Phase::forward, 5, 0), record(Phase::comm, 6, 0)};
  CHECK(sorted(tensors, mesh) == std::vector<std::size_t>{2, 3, 0, 1});
  const std::vector<Tensor> behind_state = {
      record(Phase::state, 0, 1), record(Phase::comm, 1, 1), record(Phase::forward, 2, 1),
      record(Phase::state, 0, 0), record(Phase::forward, 5, 0)};
  CHECK(sorted(behind_state, mesh) == std::vector<std::size_t>{3, 0, 4, 1, 2});
}

TensorResult result(const std::string& name, Phase phase, Kind kind, Outcome outcome,
                    DType dtype = DType::f32) {
  TensorResult made;
  made.identity = {name, phase, 0, 0};
  made.kind = kind;
  made.by_limit = outcome;
  made.dtype = dtype;
  return made;
}

TEST_CASE("most initial parameters differ: not comparable; one differs: the divergence") {
  std::vector<TensorResult> results = {
      result("a/param.w", Phase::state, Kind::weight, Outcome::diverged),
      result("b/param.w", Phase::state, Kind::weight, Outcome::equal),
      result("c/param.w", Phase::state, Kind::weight, Outcome::noise)};
  CHECK(!failed_precondition(results, {}));
  results[2].by_limit = Outcome::diverged;
  const auto failed = failed_precondition(results, {});
  REQUIRE(failed);
  CHECK(failed->record == 0);
  CHECK(failed->reason == "initial parameters differ");
}

TEST_CASE("dropout on both sides: other random states or masks are no divergence") {
  const auto fact = [](const std::string& name, double a, double b) {
    return FactResult{name, FactValue(a), FactValue(b), a == b ? "equal" : "differs"};
  };
  std::vector<TensorResult> results = {
      result("layers.0.attn/output.0", Phase::forward, Kind::output, Outcome::equal),
      result("layers.0.attn_drop/output.0", Phase::forward, Kind::output, Outcome::diverged),
      result("layers.0.mlp/output.0", Phase::forward, Kind::output, Outcome::diverged)};
  Metrics& metrics = results[1].metrics;
  metrics.count = 100;
  metrics.sum_a2 = metrics.sum_b2 = 100;
  metrics.sum_d2 = 40;  // the cosine is 0.8
  const std::vector<FactResult> on = {fact("model.dropout", 0.1, 0.1)};
  const std::vector<FactResult> off = {fact("model.dropout", 0.0, 0.1)};
  REQUIRE(failed_precondition(results, on));
  CHECK(failed_precondition(results, on)->reason == "the dropout masks differ");
  CHECK(failed_precondition(results, on)->record == 1);
  CHECK_FALSE(failed_precondition(results, off));
  CHECK_FALSE(failed_precondition(results, {}));
  metrics.sum_d2 = 1;  // a factor, or noise
  CHECK_FALSE(failed_precondition(results, on));
  const std::vector<FactResult> states = {on[0], fact("rng_cpu", 1, 2)};
  REQUIRE(failed_precondition(results, states));
  CHECK(failed_precondition(results, states)->reason == "the random state differs");
  for (TensorResult& one : results) one.by_limit = Outcome::equal;
  CHECK_FALSE(failed_precondition(results, states));
}

TEST_CASE("other ids in the first module are another batch; in a later one they are not") {
  std::vector<TensorResult> results = {
      result("embedding/input.0", Phase::forward, Kind::input, Outcome::diverged, DType::i64)};
  CHECK(failed_precondition(results, {})->reason == "the batch differs");
  results.insert(results.begin(),
                 result("embedding/output.0", Phase::forward, Kind::output, Outcome::equal));
  results[1].identity.name = "layers.0.moe/input.1";
  CHECK(!failed_precondition(results, {}));
}

TEST_CASE("the first diverged result heads the report") {
  const std::vector<TensorResult> results = {
      result("x/output.0", Phase::forward, Kind::output, Outcome::noise),
      result("y/output.0", Phase::forward, Kind::output, Outcome::diverged)};
  CHECK(first_diverged(results) == 1);
  const Divergence first = divergence_of(results[1], true, {});
  CHECK(first.tensor == "y/output.0");
  CHECK(first.op == "y");
  CHECK(first.introduced == true);
}

}  // namespace
}  // namespace ttcheck::locate
