// Names of one parameter in several models' words.

#include "core/align/dialects.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/align/align.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::align {
namespace {

Tensor tensor(const std::string& name, Shape shape) {
  static const tests::ArraySource source(std::vector<std::byte>(1 << 12));
  Tensor made = tests::tensor_of(source, DType::f32, std::move(shape));
  made.identity.name = name;
  made.kind = kind_of_name(name);
  return made;
}

TEST_CASE("latent attention: the norms of separate modules, fused ones and Hugging Face's") {
  const std::string attention = "decoder.layers.0.self_attention.";
  const std::string hf = "model.layers.0.self_attn.";
  const std::vector<Tensor> ways[] = {
      {tensor(attention + "q_layernorm.weight", {4}),
       tensor(attention + "kv_layernorm.weight", {4})},
      {tensor(attention + "linear_q_up_proj.layer_norm_weight", {4}),
       tensor(attention + "linear_kv_up_proj.layer_norm_weight", {4})},
      {tensor(hf + "q_a_layernorm.weight", {4}), tensor(hf + "kv_a_layernorm.weight", {4})}};
  for (const auto& reference : ways) {
    for (const auto& stored : ways) {
      auto candidate = stored;
      const Alignment done = align(reference, candidate, {}, {});
      REQUIRE(done.pairs.size() == 2);
      for (const PairIndex& pair : done.pairs) {
        CHECK(candidate[pair.candidate].identity.name == stored[pair.reference].identity.name);
      }
    }
  }
}

TEST_CASE("a layer that predicts further tokens, by its module's name and by the stored one") {
  const std::string stored = "mtp.layers.0.transformer_layer.",
                    module = "mtp.layers.0.mtp_model_layer.";
  const std::vector<Tensor> reference = {
      tensor(stored + "self_attention.linear_qkv.layer_norm_weight", {8}),
      tensor(stored + "mlp.linear_fc1.weight@exp_avg", {12, 8}),
      tensor(stored + "mlp.experts.experts.1.linear_fc2.weight", {8, 6})};
  std::vector<Tensor> candidate = {
      tensor(module + "input_layernorm.weight", {8}),
      tensor(module + "mlp.linear_fc1.weight@exp_avg", {12, 8}),
      tensor(module + "mlp.experts.local_experts.1.linear_fc2.weight", {8, 6}),
      tensor("decoder.layers.0.input_layernorm.weight", {8})};
  const Alignment done = align(reference, candidate, {}, {});
  REQUIRE(done.pairs.size() == 3);
  for (const PairIndex& pair : done.pairs) {
    const std::string& name = candidate[pair.reference].identity.name;
    CHECK(candidate[pair.candidate].identity.name == name);
  }
  CHECK(done.only_candidate.size() == 1);
}

}  // namespace
}  // namespace ttcheck::align
