// SPDX-License-Identifier: Apache-2.0
#include "core/align/align.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/named_tensor.hpp"

namespace ttcheck::align {
namespace {

using tests::named_tensor;
using tests::named_tensors;

/// As align, of a copy of the candidate.
Alignment meet(const std::vector<Tensor>& reference, std::vector<Tensor> candidate,
               const AlignOptions& options = {}) {
  return align(reference, candidate, options);
}

/// Pairs, leftovers and exclusions are all tensors, each once.
void check_counts(const Alignment& done, std::size_t reference, std::size_t candidate) {
  std::int64_t excluded = 0;
  for (const auto& [rule, count] : done.excluded_by) excluded += count;
  CHECK(static_cast<std::int64_t>(2 * done.pairs.size() + done.only_reference.size() +
                                  done.only_candidate.size()) +
            excluded ==
        static_cast<std::int64_t>(reference + candidate));
}

TEST_CASE("the language part of a model that sees meets itself, in memory and on disk") {
  const auto left = named_tensors({"model.language_model.layers.0.w", "lm_head.weight",
                                   "model.vision_tower.w", "model.other.language_model.w"});
  const auto right = named_tensors({"language_model.model.layers.0.w",
                                    "language_model.lm_head.weight", "vision_tower.w", "other.w"});
  const Alignment done = meet(left, right);
  REQUIRE(done.pairs.size() == 3);
  CHECK(done.pairs[0].rule == "language model prefix");
  CHECK(done.pairs[1].candidate == 1);
  CHECK(done.pairs[2].rule == "model prefix");
}

TEST_CASE("names meet as they are, without wrappers, and without the model prefix") {
  const auto left = named_tensors({"a.weight", "module.b.weight", "model.layers.0.w"});
  const auto right = named_tensors({"layers.0.w", "b.weight", "a.weight"});
  const Alignment done = meet(left, right);
  REQUIRE(done.pairs.size() == 3);
  CHECK(done.pairs[0].rule == "same");
  CHECK(done.pairs[1].rule == "wrapper prefix");
  CHECK(done.pairs[2].rule == "model prefix");
  CHECK(done.pairs[2].candidate == 0);
  check_counts(done, 3, 3);
}

TEST_CASE("a name that two others could meet meets neither") {
  const auto left = named_tensors({"module.w", "_orig_mod.w"});
  const auto right = named_tensors({"w"});
  const Alignment done = meet(left, right);
  CHECK(done.pairs.empty());
  CHECK(done.only_reference.size() == 2);
  check_counts(done, 2, 1);
}

TEST_CASE("a parameter meets its fp32 master where that is all there is") {
  const auto left = named_tensors({"w"});
  const auto right = named_tensors({"w@master"});
  const Alignment done = meet(left, right);
  REQUIRE(done.pairs.size() == 1);
  CHECK(done.pairs[0].rule == "master-for-param");
}

TEST_CASE("a kind that one side lacks is excluded as a whole, a weight never") {
  const auto left = named_tensors({"w", "v", "w@exp_avg", "v@exp_avg"});
  const auto right = named_tensors({"w"});
  const Alignment done = meet(left, right);
  CHECK(done.pairs.size() == 1);
  CHECK(done.only_reference.size() == 1);
  REQUIRE(done.excluded_by.size() == 1);
  CHECK(done.excluded_by[0].first == "kind moment1: not in candidate");
  CHECK(done.excluded_by[0].second == 2);
  check_counts(done, 4, 1);
  const Alignment without = meet(named_tensors({"w"}), named_tensors({"v@exp_avg"}));
  CHECK(without.only_reference.size() == 1);
  CHECK(without.excluded_by ==
        std::vector<std::pair<std::string, std::int64_t>>{{"kind moment1: not in reference", 1}});
}

TEST_CASE("a kind that was not recorded in a phase is excluded with its phase") {
  Tensor gradient = named_tensor("m/grad.weight");
  gradient.kind = Kind::grad;
  gradient.identity.phase = Phase::backward;
  Tensor weight = named_tensor("m/param.weight");
  weight.identity.phase = Phase::optimizer;
  const Alignment done = meet({gradient}, {gradient, weight});
  CHECK(done.pairs.size() == 1);
  using Excluded = std::vector<std::pair<std::string, std::int64_t>>;
  CHECK(done.excluded_by == Excluded{{"kind weight in optimizer: not in reference", 1}});
  gradient.identity.phase = Phase::none;
  CHECK(meet({gradient}, {}).excluded_by == Excluded{{"kind grad: not in candidate", 1}});
}

TEST_CASE("what was used for others is excluded under the rule that used it") {
  AlignOptions options;
  options.used = {{"b", "second rule"}, {"c", "first rule"}, {"e", "second rule"}};
  const Alignment done =
      meet(named_tensors({"a", "b"}), named_tensors({"a", "c", "d", "e"}), options);
  using Excluded = std::vector<std::pair<std::string, std::int64_t>>;
  CHECK(done.excluded_by == Excluded{{"first rule", 1}, {"second rule", 2}});
  CHECK(done.pairs.size() == 1);
  CHECK(done.only_candidate == std::vector<std::size_t>{2});
  check_counts(done, 2, 4);
}

TEST_CASE("rotary frequencies that one writer alone stores are excluded, a lost one is a loss") {
  const auto left = named_tensors({"layers.0.attention.wq.weight", "rope.freqs"});
  const auto right = named_tensors({"layers.0.attention.wq.weight"});
  AlignOptions options;
  CHECK(meet(left, right, options).only_reference.size() == 1);
  options.other_writer = true;
  const Alignment done = meet(left, right, options);
  CHECK(done.only_reference.empty());
  check_counts(done, 2, 1);
  CHECK(meet(named_tensors({"a.rotary_emb.inv_freq", "b.rotary_emb.inv_freq"}),
             named_tensors({"a.rotary_emb.inv_freq"}), options)
            .only_reference.size() == 1);
}

TEST_CASE("a user's map renames in whichever direction it fits") {
  const auto left = named_tensors({"model.layers.3.mlp.w"});
  const auto right = named_tensors({"decoder.blocks.3.ffn"});
  const MapRule map{"model.layers.{l}.mlp.w", "decoder.blocks.{l}.ffn", "same", 1};
  CHECK(meet(left, right, {.maps = {map}}).pairs.size() == 1);
  CHECK(meet(right, left, {.maps = {map}}).pairs.size() == 1);
  CHECK_THROWS_AS(meet(left, right, {.maps = {{"a", "b", "fold(2)", 7}}}), Error);
}

TEST_CASE("trace records meet by identity, not by name alone") {
  Tensor first = named_tensor("m/output.0");
  first.identity.phase = Phase::forward;
  Tensor second = first;
  second.identity.microbatch = 1;
  const std::vector<Tensor> left = {first, second};
  const std::vector<Tensor> right = {second};
  const Alignment done = meet(left, right);
  REQUIRE(done.pairs.size() == 1);
  CHECK(done.pairs[0].reference == 1);
}

}  // namespace
}  // namespace ttcheck::align
