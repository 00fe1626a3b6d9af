// SPDX-License-Identifier: Apache-2.0
// Megatron's rules as the base of a layout for files that lie in another way.

#include "formats/megatron/layout_base.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/opened_megatron.hpp"
#include "tests/support/safetensors_text.hpp"

namespace ttcheck::formats {
namespace {

using tests::MegatronModel;
using tests::MegatronTree;
using tests::OpenedMegatron;
using tests::TempDir;

constexpr const char* kLayout = R"(layout = 1
base = "megatron-legacy"
[mesh]
axes = ["pp=2", "dp=1", "tp=2"]
[files]
pattern = "stage{pp}/part{tp}.pt"
root = "model"
)";

void write_ranks(const MegatronTree& tree, const TempDir& dir) {
  namespace fs = std::filesystem;
  tree.write(dir, "x");
  for (const int pp : {0, 1}) {
    fs::create_directories(dir.path(fmt::format("stage{}", pp)));
    for (const int tp : {0, 1}) {
      fs::rename(dir.path(fmt::format("x/mp_rank_0{}_00{}/model_optim_rng.pt", tp, pp)),
                 dir.path(fmt::format("stage{}/part{}.pt", pp, tp)));
    }
  }
  fs::remove_all(dir.path("x"));
}

TEST_CASE("base megatron-legacy, megatron-core: built-in dims, numbers of layers, the vocabulary") {
  MegatronTree tree;
  tree.tp = 2, tree.pp = 2;
  const TempDir dir;
  write_ranks(tree, dir);
  std::string layout = kLayout;
  SUBCASE("legacy") {}
  SUBCASE("core") { layout.replace(layout.find("legacy"), 6, "core"); }
  dir.write("layout.toml", layout);
  const OpenedMegatron opened(dir.path());
  CHECK(opened.run.format == "rank-files");
  CHECK(opened.said() == "");
  CHECK(opened.model() == tree.model());
}

TEST_CASE("base megatron-legacy: the layout's own rules and numbers count first") {
  MegatronTree tree;
  tree.tp = 2, tree.pp = 2;
  const TempDir dir;
  write_ranks(tree, dir);
  dir.write("layout.toml", std::string(kLayout) + R"([model]
vocab = 5
[[tensor]]
match = "decoder.final_layernorm.weight"
dims = "x[tp]"
[[rename]]
match = "decoder.layers.{l}.**"
to = "decoder.layers.{l + 7*pp}.**"
)");
  const MegatronModel model = OpenedMegatron(dir.path()).model();
  CHECK(model.at("decoder.final_layernorm.weight").shape == std::vector{2 * tree.hidden});
  CHECK(model.at("output_layer.weight").shape[0] == 5);
  CHECK(model.contains("decoder.layers.8.input_layernorm.weight"));
  CHECK_FALSE(model.contains("decoder.layers.2.input_layernorm.weight"));
}

TEST_CASE("base megatron-legacy: files of any format, whose rules need no arguments") {
  const TempDir dir;
  for (const std::string tp : {"0", "1"}) {
    dir.write("part" + tp + ".safetensors",
              tests::small_safetensors("decoder.layers.0.self_attention.linear_qkv.bias"));
  }
  dir.write("layout.toml", R"(layout = 1
base = "megatron-legacy"
[mesh]
axes = ["tp=2"]
[files]
pattern = "part{tp}.safetensors"
)");
  const OpenedMegatron opened(dir.path());
  CHECK(opened.said() == "");
  CHECK(opened.model().at("decoder.layers.0.self_attention.linear_qkv.bias").shape ==
        std::vector<std::int64_t>{4});
}

TEST_CASE("base deepspeed: modules of Megatron-DeepSpeed, by name and by a pipeline's number") {
  const std::pair<const char*, std::vector<std::int64_t>> shapes[] = {
      {"3.self_attention.query_key_value.bias", {4}},
      {"3.input_layernorm.weight", {2}},
      {"30.weight", {2}},
      {"language_model.encoder.layers.0.self_attention.dense.bias", {2}},
      {"language_model.encoder.layers.0.mlp.dense_h_to_4h.bias", {4}},
      {"3.mlp.deepspeed_moe.experts.deepspeed_experts.1.dense_h_to_4h.bias", {2}}};
  for (const auto& [name, shape] : shapes) {
    CAPTURE(name);
    const TempDir dir;
    for (const std::string tp : {"0", "1"}) {
      dir.write("part" + tp + ".safetensors", tests::small_safetensors(name));
    }
    dir.write("layout.toml", R"(layout = 1
base = "deepspeed"
[mesh]
axes = ["tp=2"]
[files]
pattern = "part{tp}.safetensors"
)");
    const OpenedMegatron opened(dir.path());
    CHECK(opened.said() == "");
    CHECK(opened.model().at(name).shape == shape);
  }
}

}  // namespace
}  // namespace ttcheck::formats
