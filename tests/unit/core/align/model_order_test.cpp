// SPDX-License-Identifier: Apache-2.0
#include "core/align/model_order.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace ttcheck::align {
namespace {

using Names = std::vector<std::string>;

ModelPlace place_of(const std::string& name, Kind kind = Kind::weight) {
  return model_place({name, Phase::none, 0, 0}, kind);
}

/// Names of one place, one place after the other.
void check_order(const std::vector<Names>& places) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (const std::string& one : places[i]) {
      INFO(one);
      CHECK(place_of(one) == place_of(places[i].front()));
      if (i > 0) CHECK(place_of(places[i - 1].front()) < place_of(one));
    }
  }
}

TEST_CASE("a model's ends, in the words of several families") {
  check_order({
      {"model.embed_tokens.weight", "embedding.word_embeddings.weight", "transformer.wte.weight",
       "transformer.wpe.weight", "gpt_neox.embed_in.weight"},
      {"model.layers.0.w", "decoder.layers.0.w"},
      {"model.norm.weight", "decoder.final_layernorm.weight", "final_norm.weight",
       "gpt_neox.final_layer_norm.weight", "transformer.ln_f.weight", "backbone.norm_f.weight",
       "norm.weight"},
      {"lm_head.weight", "output_layer.weight", "score.weight", "classifier.weight", "head.weight",
       "output.weight", "embed_out.weight"},
      {"logit_scale", "freqs"},
  });
}

TEST_CASE("the parts of a layer, in the words of several families") {
  const std::vector<Names> parts = {
      {"input_layernorm.weight", "input_norm.weight", "ln_1.weight", "attention_norm.weight"},
      {"self_attn.q_proj.weight", "self_attention.linear_qkv.weight",
       "attention.query_key_value.weight", "attn.c_attn.weight"},
      {"self_attn.k_proj.weight"},
      {"self_attn.v_proj.weight"},
      {"self_attn.o_proj.weight", "attn.c_proj.weight", "self_attention.linear_proj.weight",
       "attention.dense.weight", "o_proj.weight"},
      {"post_attention_layernorm.weight", "post_norm.weight", "pre_mlp_layernorm.weight",
       "ln_2.weight", "ffn_norm.weight"},
      {"mlp.router.weight"},
      {"mlp.gate_proj.weight", "mlp.linear_fc1.weight"},
      {"mlp.up_proj.weight", "mlp.c_fc.weight"},
      {"mlp.down_proj.weight", "mlp.linear_fc2.weight"},
      {"anything.weight", "feed_forward.w1.weight"},
  };
  std::vector<Names> places;
  for (const std::int64_t layer : {2, 10}) {
    for (const Names& part : parts) {
      Names& names = places.emplace_back();
      for (const std::string& rest : part) {
        names.push_back("model.layers." + std::to_string(layer) + "." + rest);
      }
    }
  }
  check_order(places);
}

TEST_CASE(
    "networks of images: what comes in first, layers of layers, and parts that are numbered") {
  check_order({{"conv1.weight", "bn1.running_mean", "stem.conv.weight", "cls_token", "pos_embed"},
               {"layer1.0.conv1.weight", "layer1.0.downsample.1.running_mean"},
               {"layer1.1.bn1.running_mean"},
               {"layer2.0.downsample.1.running_mean"},
               {"layer2.1.conv1.weight"},
               {"norm.weight"},
               {"fc.weight", "head.weight"}});
  check_order({{"stem.1.weight"},
               {"stages.0.downsample.0.weight"},
               {"stages.0.blocks.0.norm.weight"},
               {"stages.0.blocks.10.norm.weight"},
               {"stages.1.downsample.1.weight"},
               {"stages.1.blocks.0.norm.weight"}});
  check_order({{"features.1.0.block.weight"}, {"features.1.1.block.weight"}, {"features.2.0.w"}});
  check_order({{"layers.3.mlp.gate.weight"},
               {"layers.3.mlp.experts.0.up_proj.weight"},
               {"layers.3.mlp.experts.0.down_proj.weight"},
               {"layers.3.mlp.experts.1.up_proj.weight"}});
}

TEST_CASE("layers that predict further tokens stand behind the final norm, before the head") {
  check_order({{"model.layers.99.w"},
               {"decoder.final_layernorm.weight"},
               {"mtp.layers.0.mlp.up_proj.weight"},
               {"mtp.layers.1.input_layernorm.weight"},
               {"output_layer.weight"}});
}

TEST_CASE("all weights stand before all of another kind") {
  CHECK(place_of("logit_scale") < place_of("model.embed_tokens.weight", Kind::moment1));
  CHECK(place_of("lm_head.weight", Kind::moment1) < place_of("wte.weight", Kind::moment2));
}

}  // namespace
}  // namespace ttcheck::align
