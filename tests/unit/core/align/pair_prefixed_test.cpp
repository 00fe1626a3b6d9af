// SPDX-License-Identifier: Apache-2.0
#include "core/align/pair_prefixed.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/named_tensor.hpp"

namespace ttcheck::align {
namespace {

using tests::named_tensors;

/// Names, and what each holds.
using Held = std::map<std::string, std::string>;
using Met = std::vector<std::string>;

/// The pairs that a prefix makes, as `left > right by rule`.
Met met(const std::vector<Tensor>& left, const std::vector<Tensor>& right, const Held& held = {}) {
  Bench bench{left, right, {}, {}, {}};
  for (std::size_t i = 0; i < left.size(); ++i) bench.left.push_back(i);
  for (std::size_t j = 0; j < right.size(); ++j) bench.right.push_back(j);
  pair_prefixed(bench, [&](const Tensor& tensor, std::int64_t, std::int64_t) {
    const auto at = held.find(tensor.identity.name);
    return at == held.end() ? std::nullopt : std::optional(Content{at->second, false});
  });
  Met all;
  for (const PairIndex& pair : bench.done.pairs) {
    all.push_back(left[pair.reference].identity.name + " > " + right[pair.candidate].identity.name +
                  " by " + pair.rule);
  }
  CHECK(bench.left.size() == left.size() - all.size());
  CHECK(bench.right.size() == right.size() - all.size());
  return all;
}

TEST_CASE("a prefix of either side is proved by all names of the smaller one") {
  const auto plain = named_tensors({"a.x", "b.y"});
  const auto wrapped = named_tensors({"net.a.x", "net.b.y", "head.z"});
  CHECK(met(plain, wrapped) == Met{"a.x > net.a.x by prefix net. of the candidate",
                                   "b.y > net.b.y by prefix net. of the candidate"});
  CHECK(met(wrapped, plain) == Met{"net.a.x > a.x by prefix net. of the reference",
                                   "net.b.y > b.y by prefix net. of the reference"});
  CHECK(met(named_tensors({"a.x", "b.y", "c.z"}), named_tensors({"net.a.x", "net.b.y"})).size() ==
        2);
}

TEST_CASE("wrappers and model. stand behind a prefix as they do without one") {
  CHECK(met(named_tensors({"a.x", "b.y"}), named_tensors({"net.module.model.a.x", "net.model.b.y"}))
            .size() == 2);
  CHECK(met(named_tensors({"model.a.x", "model.b.y"}),
            named_tensors({"model.model.a.x", "model.model.b.y"}))
            .size() == 2);
}

TEST_CASE("a prefix in front of names of which most begin with model. needs no values") {
  std::vector<Tensor> plain = named_tensors({"lm_head"}), wrapped = named_tensors({"net.lm_head"});
  for (int layer = 0; layer < 8; ++layer) {
    const std::string name = "model.layers." + std::to_string(layer) + ".weight";
    plain.push_back(tests::named_tensor(name));
    wrapped.push_back(tests::named_tensor("net." + name));
  }
  const Met all = met(plain, wrapped);
  REQUIRE(all.size() == 9);
  CHECK(all.front() == "lm_head > net.lm_head by prefix net. of the candidate");
}

TEST_CASE("no proof: a name too many on both sides, another shape, one name of many") {
  CHECK(
      met(named_tensors({"a.x", "b.y", "c"}), named_tensors({"net.a.x", "net.b.y", "d"})).empty());
  auto turned = named_tensors({"net.a.x", "net.b.y"});
  turned[0].shape = {3, 2};
  CHECK(met(named_tensors({"a.x", "b.y"}), turned).empty());
  const auto many = named_tensors({"layers.0.weight", "layers.1.weights"});
  CHECK(met(named_tensors({"weight"}), many).empty());
  const Held same = {{"weight", "1"}, {"layers.0.weight", "1"}};
  CHECK(met(named_tensors({"weight"}), many, same).size() == 1);
}

TEST_CASE("of two prefixes the values tell, then what says that it is an average") {
  const auto plain = named_tensors({"x", "y"});
  const auto two = named_tensors({"params.x", "params.y", "params_ema.x", "params_ema.y"});
  const std::string kept = "x > params.x by prefix params. of the candidate";
  CHECK(met(plain, two).front() == kept);
  const Held same = {
      {"x", "1"},           {"y", "2"}, {"params.x", "3"}, {"params.y", "4"}, {"params_ema.x", "1"},
      {"params_ema.y", "2"}};
  CHECK(met(plain, two, same).front() == "x > params_ema.x by prefix params_ema. of the candidate");
  CHECK(met(plain, named_tensors({"a.x", "a.y", "b.x", "b.y"})).empty());
}

}  // namespace
}  // namespace ttcheck::align
