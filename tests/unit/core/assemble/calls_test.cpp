// SPDX-License-Identifier: Apache-2.0
// Experts to which a router sent no tokens, on a rank or in a micro-batch.

#include "core/assemble/calls.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/assemble/assemble.hpp"

namespace ttcheck::assemble {
namespace {

const char* const kTokens = "t[mb,dp] h";

/// A step of two ranks along dp.
struct Step {
  Mesh mesh;
  State state;

  Step() { mesh.axes = {{"dp", 2}}; }

  void add(Phase phase, const std::string& name, const std::string& dims, Shape shape,
           std::int32_t rank, std::int32_t microbatch = 0) {
    Record& record = state.records.emplace_back();
    record.identity = {name, phase, microbatch, 0};
    record.shape = std::move(shape);
    record.piece.rank = rank;
    record.placement = std::make_shared<const Placement>(parse_dims(dims));
    record.at = mesh.coordinates(rank);
  }

  Assembly made() { return assemble(std::move(state), mesh, {}); }
};

TEST_CASE("an expert without tokens on a rank is whole without it") {
  Step step;
  step.add(Phase::forward, "expert/output.0", kTokens, {5, 2}, 0);
  step.add(Phase::forward, "router/output.0", kTokens, {4, 2}, 0);
  step.add(Phase::forward, "router/output.0", kTokens, {4, 2}, 1);
  step.add(Phase::backward, "expert/grad.weight", "x # dp:partial=avg mb:partial", {3}, 0);
  const Assembly made = step.made();
  CHECK(made.findings.empty());
  REQUIRE(made.tensors.size() == 3);
  CHECK(made.tensors[0].shape == Shape{5, 2});
  CHECK(made.tensors[0].holes.empty());
  CHECK(made.tensors[1].shape == Shape{8, 2});
  CHECK(made.tensors[2].holes.empty());
  CHECK(made.tensors[2].mean_of == 2);  // nothing is an addend, too
}

TEST_CASE("a rank that ran the module has lost its part") {
  Step step;
  step.add(Phase::forward, "expert/output.0", kTokens, {4, 2}, 0);
  step.add(Phase::forward, "expert/input.0", kTokens, {4, 2}, 0);
  step.add(Phase::forward, "expert/input.0", kTokens, {4, 2}, 1);
  step.add(Phase::backward, "expert/grad.weight", "x # dp:partial=avg mb:partial", {3}, 0);
  const Assembly made = step.made();
  REQUIRE(made.tensors.size() == 3);
  CHECK(made.tensors[0].shape == Shape{8, 2});
  CHECK(made.tensors[0].holes == std::vector<Box>{{{4, 0}, {4, 2}}});
  CHECK(made.tensors[2].holes == std::vector<Box>{{{0}, {3}}});
}

TEST_CASE("tokens lie by micro-batch and rank, as many as each had") {
  Step step;
  step.add(Phase::forward, "expert/output.0", kTokens, {3, 2}, 0, 0);
  step.add(Phase::forward, "expert/output.0", kTokens, {1, 2}, 1, 0);
  step.add(Phase::forward, "expert/output.0", kTokens, {2, 2}, 1, 2);
  const Assembly made = step.made();
  CHECK(made.findings.empty());
  REQUIRE(made.tensors.size() == 1);
  CHECK(made.tensors[0].shape == Shape{6, 2});
  REQUIRE(made.tensors[0].pieces.size() == 3);
  CHECK(made.tensors[0].pieces[1].cells[0].box == Box{{3, 0}, {1, 2}});
  CHECK(made.tensors[0].pieces[2].cells[0].box == Box{{4, 0}, {2, 2}});
}

TEST_CASE("with a rank missing, what is not there may be lost") {
  Step step;
  step.add(Phase::forward, "expert/output.0", kTokens, {4, 2}, 0);
  step.state.missing_ranks = {1};
  const Assembly made = step.made();
  REQUIRE(made.tensors.size() == 1);
  CHECK(made.tensors[0].holes == std::vector<Box>{{{4, 0}, {4, 2}}});
}

TEST_CASE("a micro-batch of any number is one of those that are there") {
  Step step;
  step.add(Phase::forward, "linear/output.0", "b[mb] h", {4, 2}, 0, INT32_MAX);
  step.add(Phase::forward, "other/output.0", "b[mb] h", {4, 2}, 1);
  CHECK(step.made().tensors.size() == 2);  // rather than asking of each that there might be
}

TEST_CASE("addends of another sum are never left out") {
  Step step;
  step.add(Phase::forward, "linear/output.0", "b[mb] h # dp:partial", {4, 2}, 0);
  step.add(Phase::forward, "other/output.0", kTokens, {4, 2}, 1);
  const Assembly made = step.made();
  REQUIRE(!made.findings.empty());
  CHECK(made.findings[0].message == "1 of 2 addends of linear/output.0 are there");
}

}  // namespace
}  // namespace ttcheck::assemble
