// SPDX-License-Identifier: Apache-2.0
#include "core/diff/named_as_reference.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

namespace ttcheck::diff {
namespace {

Identity forward(std::string name) {
  Identity identity;
  identity.name = std::move(name);
  identity.phase = Phase::forward;
  return identity;
}

std::vector<Tensor> tensors(const std::vector<std::string>& names) {
  std::vector<Tensor> made;
  for (const std::string& name : names) made.emplace_back().identity = forward(name);
  return made;
}

TEST_CASE("B12 inputs of the candidate go by the names of what they met") {
  MetStep met;
  met.sides = std::make_shared<std::array<OpenedStep, 2>>();
  met.sides->at(0).assembly.tensors = tensors({"add.0/output.0", "add.1/output.0"});
  // One more op in front: every counter behind it moved.
  met.sides->at(1).assembly.tensors =
      tensors({"add.0/output.0", "add.1/output.0", "add.2/output.0"});
  for (const std::size_t i : {0U, 1U}) {
    met.pairs.push_back({&met.reference()[i], &met.candidate()[i + 1]});
  }
  met.alignment.only_candidate = {0};
  recompute::Recomputed told;
  told.inputs = {forward("add.2/output.0"), forward("add.0/output.0"), forward("w")};
  ReferenceNames(met).give(told);
  CHECK(told.inputs == std::vector{forward("add.1/output.0"), Identity{}, forward("w")});
}

}  // namespace
}  // namespace ttcheck::diff
