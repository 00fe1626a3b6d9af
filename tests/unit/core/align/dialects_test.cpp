// SPDX-License-Identifier: Apache-2.0
// Names of one parameter in several models' words.

#include "core/align/dialects.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/align/align.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/named_tensor.hpp"

namespace ttcheck::align {
namespace {

Tensor tensor(const std::string& name, Shape shape) {
  static const tests::ArraySource source(std::vector<std::byte>(1 << 12));
  return tests::named(name, tests::tensor_of(source, DType::f32, std::move(shape)));
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

TEST_CASE("norms of queries and keys: Hugging Face's, Megatron core's and those before core") {
  for (const std::string before : {"decoder", "language_model.encoder"}) {
    const std::string attention = before + ".layers.0.self_attention.";
    const std::vector<Tensor> stored = {tensor(attention + "k_layernorm.weight", {4}),
                                        tensor(attention + "q_layernorm.weight", {4})};
    auto candidate = stored;
    const std::vector<Tensor> reference = {tensor("model.layers.0.self_attn.q_norm.weight", {4}),
                                           tensor("model.layers.0.self_attn.k_norm.weight", {4})};
    const Alignment done = align(reference, candidate, {}, {});
    REQUIRE(done.pairs.size() == 2);
    for (const PairIndex& pair : done.pairs) {
      CHECK(candidate[pair.candidate].identity.name == stored[1 - pair.reference].identity.name);
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

/// Candidate names by reference name.
std::map<std::string, std::string> met(const std::vector<Tensor>& reference,
                                       std::vector<Tensor> candidate) {
  const Alignment done =
      align(reference, candidate, {}, {{"heads", 2}, {"kv_heads", 2}, {"head_dim", 2}});
  std::map<std::string, std::string> names;
  for (const PairIndex& pair : done.pairs) {
    names[reference[pair.reference].identity.name] = candidate[pair.candidate].identity.name;
  }
  return names;
}

TEST_CASE("Megatron-DeepSpeed: the places of a pipeline's layers, whatever comes before them") {
  for (const int first : {2, 3}) {
    const auto at = [&](int layer, const std::string& rest) {
      return std::to_string(first + layer) + "." + rest;
    };
    const std::vector<Tensor> reference = {
        tensor("1.word_embeddings.weight", {8, 4}),
        tensor(at(0, "input_layernorm.weight"), {4}),
        tensor(at(0, "self_attention.query_key_value.weight"), {12, 4}),
        tensor(at(1, "self_attention.dense.weight@exp_avg"), {4, 4}),
        tensor(at(1, "mlp.dense_4h_to_h.bias"), {4}),
        tensor(at(3, "weight"), {4}),
        tensor(at(4, "lm_head.weight"), {8, 4})};
    const auto hf =
        met(reference, {tensor("model.embed_tokens.weight", {8, 4}),
                        tensor("model.layers.0.input_layernorm.weight", {4}),
                        tensor("model.layers.0.self_attn.q_proj.weight", {4, 4}),
                        tensor("model.layers.0.self_attn.k_proj.weight", {4, 4}),
                        tensor("model.layers.0.self_attn.v_proj.weight", {4, 4}),
                        tensor("model.layers.1.self_attn.o_proj.weight@exp_avg", {4, 4}),
                        tensor("model.layers.1.mlp.down_proj.bias", {4}),
                        tensor("model.norm.weight", {4}), tensor("lm_head.weight", {8, 4})});
    CHECK(hf.size() == 7);
    CHECK(hf.at(at(3, "weight")) == "model.norm.weight");
    CHECK(hf.at(at(1, "mlp.dense_4h_to_h.bias")) == "model.layers.1.mlp.down_proj.bias");
    const auto core =
        met({tensor("embedding.word_embeddings.weight", {8, 4}),
             tensor("decoder.layers.0.self_attention.linear_qkv.layer_norm_weight", {4}),
             tensor("decoder.layers.1.self_attention.linear_proj.weight@exp_avg", {4, 4})},
            reference);
    CHECK(core.size() == 3);
  }
  const auto tied = met({tensor("tied_modules.embed.word_embeddings.weight", {8, 4}),
                         tensor("3.self_attention.dense.weight", {4, 4})},
                        {tensor("model.embed_tokens.weight", {8, 4}),
                         tensor("model.layers.0.self_attn.o_proj.weight", {4, 4})});
  CHECK(tied.size() == 2);
  // Without a transformer layer numbers say nothing.
  CHECK(met({tensor("1.word_embeddings.weight", {8, 4})},
            {tensor("model.embed_tokens.weight", {8, 4})})
            .empty());
}

TEST_CASE("a pipeline's tied module meets its layer where only one fits") {
  const auto one = met({tensor("tied_modules.embed.weight", {8, 4})}, {tensor("0.weight", {8, 4})});
  CHECK(one.size() == 1);
  CHECK(met({tensor("tied_modules.embed.weight", {8, 4})},
            {tensor("0.weight", {8, 4}), tensor("4.weight", {8, 4})})
            .empty());
  CHECK(met({tensor("tied_modules.embed.weight", {8, 4})}, {tensor("0.weight", {4})}).empty());
  for (const char* other : {"", "0", ".weight", "0weight"}) {  // names as damaged files have them
    CHECK(met({tensor("tied_modules.embed.weight", {8, 4})}, {tensor(other, {8, 4})}).empty());
    CHECK(met({tensor(other, {8, 4})}, {tensor("tied_modules.embed.weight", {8, 4})}).empty());
  }
}

TEST_CASE("layers that predict further tokens: DeepSeek's and GLM's numbers, Qwen's one") {
  const std::vector<Tensor> core = {
      tensor("embedding.word_embeddings.weight", {8, 4}),
      tensor("decoder.layers.0.input_layernorm.weight", {4}),
      tensor("output_layer.weight", {8, 4}),
      tensor("mtp.layers.0.eh_proj.weight", {4, 8}),
      tensor("mtp.layers.0.enorm.weight", {4}),
      tensor("mtp.layers.0.hnorm.weight@exp_avg", {4}),
      tensor("mtp.layers.0.final_layernorm.weight", {4}),
      tensor("mtp.layers.0.transformer_layer.self_attention.linear_proj.weight", {4, 4}),
      tensor("mtp.layers.0.mtp_model_layer.mlp.router.weight", {2, 4})};
  const std::string last = "model.layers.1.";
  const std::vector<Tensor> hf = {tensor("model.embed_tokens.weight", {8, 4}),
                                  tensor("model.layers.0.input_layernorm.weight", {4}),
                                  tensor("lm_head.weight", {8, 4}),
                                  tensor(last + "eh_proj.weight", {4, 8}),
                                  tensor(last + "enorm.weight", {4}),
                                  tensor(last + "hnorm.weight@exp_avg", {4}),
                                  tensor(last + "shared_head.norm.weight", {4}),
                                  tensor(last + "self_attn.o_proj.weight", {4, 4}),
                                  tensor(last + "mlp.gate.weight", {2, 4}),
                                  tensor(last + "embed_tokens.weight", {8, 4}),
                                  tensor(last + "shared_head.head.weight", {8, 4})};
  for (const bool swapped : {false, true}) {
    const auto& reference = swapped ? core : hf;
    auto candidate = swapped ? hf : core;
    const Alignment done = align(reference, candidate, {}, {});
    CHECK(done.pairs.size() == 11);
    CHECK(done.only_reference.empty());
    CHECK(done.only_candidate.empty());
  }
  const auto names = met(hf, core);
  CHECK(names.at(last + "shared_head.norm.weight") == "mtp.layers.0.final_layernorm.weight");
  CHECK(names.at(last + "shared_head.head.weight") == "output_layer.weight");
  const auto qwen = met(
      core, {tensor("mtp.fc.weight", {4, 8}), tensor("mtp.pre_fc_norm_embedding.weight", {4}),
             tensor("mtp.norm.weight", {4}), tensor("mtp.layers.0.self_attn.o_proj.weight", {4, 4}),
             tensor("mtp.layers.0.mlp.gate.weight", {2, 4})});
  CHECK(qwen.size() == 5);
}

TEST_CASE("as many experts in one tensor as 4,096 are read, each as its part") {
  const Readings read = dialects(ExpertStacks({}, {}), LayerNames({}));
  for (const std::int64_t experts : {1, 4096, 4097}) {
    const auto found = read(tensor("layers.0.feed_forward.experts.down_proj", {experts, 3, 2}));
    REQUIRE(found.size() == (experts > 4096 ? 0 : 1));
    if (found.empty()) continue;
    CHECK(std::ssize(found[0].parts) == experts);
    CHECK(found[0].parts.back() ==
          "layers.0.experts." + std::to_string(experts - 1) + ".fc2.weight");
  }
}

TEST_CASE("stacked experts of one name that lie upright here and transposed there") {
  const std::string experts = "model.layers.0.mlp.experts.";
  // f = 2, h = 4: gate_up_proj is square.
  const std::vector<Tensor> upright = {tensor(experts + "gate_up_proj", {2, 4, 4}),
                                       tensor(experts + "down_proj", {2, 4, 2})};
  std::vector<Tensor> turned = {tensor(experts + "gate_up_proj", {2, 4, 4}),
                                tensor(experts + "down_proj", {2, 2, 4})};
  const Alignment done = align(upright, turned, {}, {});
  REQUIRE(done.pairs.size() == 2);
  for (const PairIndex& pair : done.pairs) {
    CHECK(pair.rule == "hf spellings");
    CHECK(turned[pair.candidate].shape == upright[pair.reference].shape);
  }
  std::vector<Tensor> same = upright;
  CHECK(align(upright, same, {}, {}).pairs.at(0).rule == "same");
}

}  // namespace
}  // namespace ttcheck::align
