// SPDX-License-Identifier: Apache-2.0
#include "core/align/unpaired_roles.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/support/named_tensor.hpp"

namespace ttcheck::align {
namespace {

using tests::named_tensor;
using Rules = std::map<std::string, std::int64_t>;

std::string rule_of(const std::string& name, Shape shape, DType dtype = DType::f32) {
  Tensor tensor = named_tensor(name, std::move(shape));
  tensor.dtype = dtype;
  return std::string(bookkeeping_rule(tensor));
}

TEST_CASE("bookkeeping is known by its name and shape") {
  CHECK(rule_of("best_val_loss", {}) == "loss");
  CHECK(rule_of("loss", {1}) == "loss");
  CHECK(rule_of("val_loss", {8}).empty());
  CHECK(rule_of("loss.weight", {8}).empty());
  CHECK(rule_of("n_averaged", {}, DType::i64) == "counter");
  CHECK(rule_of("bn1.num_batches_tracked", {}, DType::i64) == "counter");
  CHECK(rule_of("step", {8}).empty());
  CHECK(rule_of("callbacks.ModelCheckpoint{'a.b': 1}.kth_value", {}) == "callback");
  CHECK(rule_of("callbacks.Ema.layers.0.weight", {2, 3}).empty());
  CHECK(rule_of("rng_state", {16}, DType::u8) == "rng");
  CHECK(rule_of("rng.cuda.0", {16}, DType::u8) == "rng");
  CHECK(rule_of("random.weight", {16}).empty());
  CHECK(rule_of("model.rotary_emb.original_inv_freq", {8}) == "buffer");
  CHECK(rule_of("h.0.attn.bias", {1, 1, 8, 8}) == "buffer");
  CHECK(rule_of("h.0.attn.bias", {8}).empty());
  CHECK(rule_of("logit_scale", {}).empty());
}

/// What is left out of the second side of pairs of `plain`, beside `more`.
Rules beside(const std::vector<std::string>& plain, const std::vector<Tensor>& more) {
  std::vector<Tensor> left, right;
  for (const std::string& name : plain) left.push_back(named_tensor(name));
  right = left;
  right.insert(right.end(), more.begin(), more.end());
  Bench bench{left, right, {}, {}, {}};
  for (std::size_t i = 0; i < left.size(); ++i) bench.done.pairs.push_back({i, i, "same"});
  for (std::size_t j = left.size(); j < right.size(); ++j) bench.right.push_back(j);
  exclude_bookkeeping(bench);
  Rules rules;
  for (const OneSided& one : bench.done.beside) {
    CHECK(one.reference == 0);
    rules[one.rule] = one.candidate;
  }
  rules["alone"] = std::ssize(bench.right);
  return rules;
}

TEST_CASE("a second copy of the weights under another key") {
  CHECK(beside({"a.x", "b.y"}, tests::named_tensors({"ema.module.a.x", "ema.b.y"})) ==
        Rules{{"copy ema", 2}, {"alone", 0}});
  CHECK(beside({"a.x", "b.y"}, tests::named_tensors({"model_ema.ax", "model_ema.b_y"})) ==
        Rules{{"copy model_ema", 2}, {"alone", 0}});
  CHECK(beside({"a.x", "b.y"}, tests::named_tensors({"ema.shadow.0", "ema.shadow.1"})) ==
        Rules{{"copy ema.shadow", 2}, {"alone", 0}});
}

TEST_CASE("what lies under a key of weights that met is no copy") {
  CHECK(beside({"a.0"}, tests::named_tensors({"a.1"}))["alone"] == 1);
  CHECK(beside({"a.0", "b.1"}, tests::named_tensors({"a.1", "a.2"}))["alone"] == 2);
}

TEST_CASE("no copy: other names, another shape, a small part of the weights") {
  CHECK(beside({"a.x", "b.y"}, tests::named_tensors({"ema.a.x", "ema.b.z"}))["alone"] == 2);
  CHECK(beside({"a.x"}, {named_tensor("ema.a.x", {7})})["alone"] == 1);
  CHECK(beside({"a.x", "b.y", "c.z"}, tests::named_tensors({"ema.a.x"}))["alone"] == 1);
  CHECK(beside({}, tests::named_tensors({"ema.a.x"}))["alone"] == 1);
}

}  // namespace
}  // namespace ttcheck::align
