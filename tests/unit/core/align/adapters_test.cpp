// SPDX-License-Identifier: Apache-2.0
#include "core/align/adapters.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/align/align.hpp"
#include "tests/support/named_tensor.hpp"

namespace ttcheck::align {
namespace {

std::vector<Tensor> tensors(std::initializer_list<std::string> names) {
  return tests::named_tensors(names, {8, 4});
}

std::optional<Adapter> found(const std::vector<Tensor>& left, std::vector<Tensor> right) {
  const Alignment done = align(left, right, {});
  return find_adapter(left, right, done);
}

const std::vector<Tensor> kBase = tensors({"model.q_proj.weight", "model.norm.weight"});

TEST_CASE("factors for weights of the other side are an adapter, on either side") {
  const auto factors = tensors({"base_model.model.model.q_proj.lora_A.weight",
                                "base_model.model.model.q_proj.lora_B.weight"});
  const auto adapter = found(kBase, factors);
  REQUIRE(adapter);
  CHECK(adapter->is_candidate);
  CHECK(adapter->factors == 2);
  CHECK(adapter->targets == 1);
  CHECK(adapter->rank == 4);
  CHECK(adapter->first == "model.q_proj.weight");
  const auto reversed = found(factors, kBase);
  REQUIRE(reversed);
  CHECK_FALSE(reversed->is_candidate);
}

TEST_CASE("a module that the adapter saved whole meets its weight of the base") {
  auto saved = tensors({"base_model.model.model.norm.weight",
                        "base_model.model.model.q_proj.lora_A.default.weight"});
  const Alignment done = align(kBase, saved, {});
  CHECK(done.pairs.size() == 1);
  CHECK(find_adapter(kBase, saved, done));
}

TEST_CASE("an adapter meets its factors in the model that it was saved from") {
  const auto model = tensors({"base_model.model.model.q_proj.base_layer.weight",
                              "base_model.model.model.q_proj.lora_A.mine.weight",
                              "base_model.model.model.q_proj.lora_magnitude_vector.mine.weight",
                              "base_model.model.model.norm.original_module.weight",
                              "base_model.model.model.norm.modules_to_save.mine.weight"});
  auto saved = tensors({"base_model.model.model.q_proj.lora_A.weight",
                        "base_model.model.model.q_proj.lora_magnitude_vector",
                        "base_model.model.model.norm.weight"});
  const Alignment done = align(model, saved, {});
  CHECK(done.pairs.size() == 3);
  CHECK(done.only_candidate.empty());
  const auto adapter = find_adapter(model, saved, done);
  REQUIRE(adapter);
  CHECK(adapter->factors == 2);
  CHECK(adapter->targets == 1);
}

TEST_CASE("a model of two adapters meets itself in a wrapper, each adapter its own") {
  const auto model = tensors({"q_proj.lora_A.one.weight", "q_proj.lora_A.two.weight"});
  auto wrapped = tensors({"module.q_proj.lora_A.two.weight", "module.q_proj.lora_A.one.weight"});
  const Alignment done = align(model, wrapped, {});
  REQUIRE(done.pairs.size() == 2);
  CHECK(done.pairs[0].candidate == 1);
  CHECK(done.pairs[0].rule == "wrapper prefix");
  auto saved = tensors({"q_proj.lora_A.weight"});
  CHECK(align(model, saved, {}).pairs.empty());
}

TEST_CASE("an adapter's other name is told by its rule, and no other module's parts are one") {
  const auto model = tensors({"q_proj.lora_A.one.weight", "x.lora_gate.alpha"});
  auto other = tensors({"q_proj.lora_A.two.weight", "x.lora_gate.beta"});
  const Alignment done = align(model, other, {});
  REQUIRE(done.pairs.size() == 1);
  CHECK(done.pairs[0].rule == "adapter name");
  CHECK(done.only_candidate.size() == 1);
}

TEST_CASE("an adapter may hold some of the weights that it changes, not all") {
  const auto saved =
      tensors({"base_model.model.model.norm.weight", "base_model.model.model.norm.lora_embedding_A",
               "base_model.model.model.q_proj.lora_A.weight"});
  const auto adapter = found(kBase, saved);
  REQUIRE(adapter);
  CHECK(adapter->factors == 2);
  CHECK(adapter->targets == 1);
}

TEST_CASE("the rank is the largest of the factors A, the first target the first of the adapter") {
  std::vector<Tensor> adapter = {tests::named_tensor("a.lora_A.weight", {2, 8}),
                                 tests::named_tensor("a.lora_B.weight", {8, 2}),
                                 tests::named_tensor("b.lora_A.weight", {8, 3}),
                                 tests::named_tensor("b.lora_B.weight", {7, 7}),
                                 tests::named_tensor("c.lora_A.weight", {9})};
  const auto base = tensors({"c.weight", "b.weight", "a.weight"});
  const auto made = found(base, adapter);
  REQUIRE(made);
  CHECK(made->rank == 3);
  CHECK(made->targets == 3);
  CHECK(made->factors == 5);
  CHECK(made->first == "a.weight");
  adapter[0].shape = {1, 8};
  CHECK(found(base, {adapter[0]})->rank == 1);
  CHECK(found(base, {adapter[4]})->rank == 0);
  // The weight that it holds itself is no target, though it comes first.
  adapter.insert(adapter.begin(), tests::named_tensor("a.weight", {8, 4}));
  CHECK(found(base, adapter)->first == "b.weight");
}

TEST_CASE("factors beside the weights that they change are no adapter: a lost weight is a loss") {
  CHECK_FALSE(found(kBase, tensors({"model.q_proj.weight", "model.q_proj.lora_A.weight"})));
}

TEST_CASE("factors of another model, or beside other leftovers, are no adapter to it") {
  CHECK_FALSE(found(kBase, tensors({"base_model.model.model.k_proj.lora_A.weight"})));
  CHECK_FALSE(found(kBase, tensors({"model.q_proj.lora_A.weight", "model.other.weight"})));
  CHECK_FALSE(found(kBase, tensors({"model.other.weight"})));
  CHECK_FALSE(found(kBase, kBase));
}

}  // namespace
}  // namespace ttcheck::align
