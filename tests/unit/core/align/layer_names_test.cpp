// SPDX-License-Identifier: Apache-2.0
#include "core/align/layer_names.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace ttcheck::align {
namespace {

LayerNames layers_of(const std::vector<std::string>& names, Phase phase = Phase::none) {
  std::vector<Tensor> tensors;
  for (const std::string& name : names) {
    tensors.emplace_back().identity.name = name;
    tensors.back().identity.phase = phase;
  }
  return LayerNames(tensors);
}

struct Row {
  std::string name, spelled;
};

void check(const LayerNames& layers, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    INFO(row.name);
    CHECK(layers.spelled(row.name) == row.spelled);
  }
}

TEST_CASE("layers of a pipeline are counted from the first transformer layer on") {
  const LayerNames layers = layers_of({"4.self_attention.dense.weight", "module.5.mlp.weight",
                                       "3.self_attention.dense.weight", "1.word_embeddings.weight",
                                       "6.self_attention.dense.weight"});
  check(layers,
        {
            {"3.self_attention.dense.weight",
             "language_model.encoder.layers.0.self_attention.dense.weight"},
            {"5.mlp.weight", "language_model.encoder.layers.2.mlp.weight"},
            {"6.x", "language_model.encoder.layers.3.x"},
            {"1.word_embeddings.weight", "language_model.embedding.word_embeddings.weight"},
            {"1.position_embeddings.weight", "language_model.embedding.position_embeddings.weight"},
            {"9.word_embeddings.weight", "language_model.embedding.word_embeddings.weight"},
            {"tied_modules.embed.word_embeddings.weight",
             "language_model.embedding.word_embeddings.weight"},
            {"tied_modules.embed.other.weight", "tied_modules.embed.other.weight"},
            {"2.weight", "2.weight"},
            {"2.lm_head.weight", "2.lm_head.weight"},
            {"8.weight", "language_model.encoder.final_layernorm.weight"},
            {"8.bias", "language_model.encoder.final_layernorm.bias"},
            {"7.lm_head.weight", "language_model.output_layer.weight"},
            {"7.other", "7.other"},
            {"embed.weight", "embed.weight"},
            {"x3.weight", "x3.weight"},
            {"3x.weight", "3x.weight"},
            {"3", "3"},
            {"-3.weight", "-3.weight"},
            {".weight", ".weight"},
            {"8", "8"},
            {"99999999999999999999.weight", "99999999999999999999.weight"},
            {"layers.3.self_attention.dense", "layers.3.self_attention.dense"},
        });
}

TEST_CASE("without a layer of a pipeline numbers say nothing") {
  for (const LayerNames& layers :
       {layers_of({}), layers_of({"3.mlp.weight", "layers.3.self_attention.weight"}),
        layers_of({"3.self_attention.dense.weight"}, Phase::forward)}) {
    check(layers, {{"3.mlp.weight", "3.mlp.weight"},
                   {"tied_modules.embed.word_embeddings.weight",
                    "tied_modules.embed.word_embeddings.weight"}});
  }
}

TEST_CASE("layers that predict further tokens are numbered by themselves") {
  const LayerNames layers =
      layers_of({"model.layers.62.eh_proj.weight", "model.layers.0.mlp.weight",
                 "layers.61.eh_proj.weight", "model.layers.61.eh_proj.bias"});
  check(layers, {
                    {"layers.61.eh_proj.weight", "mtp.layers.0.eh_proj.weight"},
                    {"layers.62.mlp.weight", "mtp.layers.1.mlp.weight"},
                    {"layers.61.shared_head.norm.weight", "mtp.layers.0.final_layernorm.weight"},
                    {"layers.61.shared_head.head.weight", "mtp.layers.0.shared_head.head.weight"},
                    {"layers.60.mlp.weight", "layers.60.mlp.weight"},
                    {"61.mlp.weight", "61.mlp.weight"},
                    {"norm.weight", "norm.weight"},
                });
  struct Copy {
    std::string name;
    std::vector<std::string> originals;
  };
  const std::vector<Copy> copies = {
      {"layers.61.embed_tokens.weight", {"embed_tokens.weight"}},
      {"layers.62.shared_head.head.weight", {"lm_head.weight", "embed_tokens.weight"}},
      {"layers.61.shared_head.norm.weight", {}},
      {"layers.60.embed_tokens.weight", {}},
      {"embed_tokens.weight", {}},
  };
  for (const Copy& copy : copies) {
    INFO(copy.name);
    CHECK(layers.originals(copy.name) == copy.originals);
  }
}

TEST_CASE("only a layer's projection of two embeddings tells that it predicts") {
  for (const LayerNames& layers :
       {layers_of({"layers.61.eh_projection.weight"}), layers_of({"61.eh_proj.weight"}),
        layers_of({"layers.61.eh_proj.weight"}, Phase::backward)}) {
    check(layers, {{"layers.61.mlp.weight", "layers.61.mlp.weight"}});
    CHECK(layers.originals("layers.61.embed_tokens.weight").empty());
  }
}

}  // namespace
}  // namespace ttcheck::align
