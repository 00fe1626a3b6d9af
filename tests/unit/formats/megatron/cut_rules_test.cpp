// SPDX-License-Identifier: Apache-2.0
// What Megatron's names, numbers and arguments mean.

#include "formats/megatron/cut_rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "formats/megatron/directory_names.hpp"
#include "formats/megatron/layers.hpp"
#include "formats/megatron/names.hpp"
#include "formats/megatron/optimizer_buffers.hpp"
#include "formats/megatron/stage_layers.hpp"
#include "tests/support/opened_torch.hpp"

namespace ttcheck::formats {
namespace {

TEST_CASE("buffer_layout: starts are multiples of 64, buckets end at their last element") {
  CHECK(buffer_layout({10, 64, 3}, 0, {}).starts == std::vector<std::int64_t>{0, 64, 128});
  CHECK(buffer_layout({10, 64, 3}, 0, {}).end == 131);
  CHECK(buffer_layout({10, 64, 3}, 60, {}).starts == std::vector<std::int64_t>{0, 64, 128});
  CHECK(buffer_layout({10, 65, 3}, 60, {}).starts == std::vector<std::int64_t>{0, 64, 129});
  const BufferLayout alone = buffer_layout({10, 65, 3}, 0, {false, true, false});
  CHECK(alone.starts == std::vector<std::int64_t>{0, 10, 75});
  CHECK(alone.end == 78);
}

TEST_CASE("read_buffers: a buffer or a row of another form is unreadable, and said") {
  using namespace tests::pickled;
  const std::string dtypes = tuple({global("torch", "float32"), global("torch", "float32")});
  const auto keyed = [](const std::string& key, const std::string& value) {
    return "}(" + key + value + "u";  // a dict whose key is no text
  };
  const auto row_of = [&](const std::string& row) {
    return keyed(integer(0), keyed(dtypes, dict({{"param", row}, {"numel_unpadded", integer(4)}})));
  };
  for (const std::string& object :
       {keyed(integer(0), list({tensor({})})), keyed(integer(0), "N"), row_of(list({tensor({})})),
        row_of(dict({{"bucket", tensor({})}}))}) {
    const tests::OpenedTorch opened(tests::torch_archive(object));
    State state;
    CHECK(read_buffers(*opened.file, {}, {}, state).empty());
    CHECK(state.unreadable == 1);
    REQUIRE_FALSE(state.findings.empty());
    CHECK(state.findings[0].message.find("is not in the coalesced form") != std::string::npos);
    CHECK(state.findings[0].where->file == "t.pt");
    CHECK(state.findings[0].incomplete);
  }
}

TEST_CASE(
    "read_buffers: one buffer under very many keys is read as often as the file accounts for") {
  using namespace tests::pickled;
  const std::string dtypes = tuple({global("torch", "float32"), global("torch", "float32")});
  std::string rows = "}(";
  for (int i = 0; i < 200; ++i) rows += text(std::to_string(i)) + tensor({});
  std::string buffers =
      "}(" + integer(0) + "}(" + dtypes + rows + "uuq\1";  // and again by its memo
  for (int i = 1; i < 4000; ++i) buffers += integer(i) + "h\1";
  const tests::OpenedTorch opened(tests::torch_archive(buffers + "u"));
  State state;
  CHECK(read_buffers(*opened.file, {}, {}, state).empty());
  CHECK(std::ranges::any_of(state.findings, [](const Finding& finding) {
    return finding.message.find("limit reached: buffers") != std::string::npos;
  }));
}

TEST_CASE("megatron rules: MLA's down projections are whole, or cut part by part") {
  MegatronArgs args;
  args.tp = 2, args.q_lora = 8, args.kv_lora = 6;
  const auto dims = [&](const char* name, std::int64_t rows) {
    const auto placement = cut_down_projection(args, name, {rows, 3});
    return placement ? to_string(*placement) : std::string();
  };
  CHECK(dims("x.linear_q_down_proj.weight", 8).empty());
  CHECK(dims("x.linear_q_down_proj.weight", 4) == "x[tp] y");
  CHECK(dims("x.linear_kv_down_proj.weight", 3) == "x[tp] y");
  CHECK(dims("x.linear_qkv_down_proj.weight", 7) == "(q:8|kv:6)[tp] y");
  CHECK(dims("x.linear_qkv_down_proj.weight", 14).empty());
}

TEST_CASE("megatron rules: names and their dims") {
  MegatronArgs args;
  args.tp = 2, args.etp = 1, args.experts = 4, args.swiglu = true, args.vocab = 7;
  args.hidden = 8, args.mamba_inner = 16, args.mamba_groups = 2, args.mamba_state = 4;
  args.mamba_heads = 2;
  const auto dims = [&](const std::string& name, double version = 3) {
    const Layout layout = megatron_layout(args, version);
    const TensorRule* rule = rule_for(layout, name);
    return rule != nullptr ? to_string(*rule->dims) : std::string();
  };
  const std::string layer = "decoder.layers.3.";
  CHECK(dims("output_layer.weight") == "v[tp:pad=vocab] h");
  CHECK(dims("language_model.embedding.word_embeddings.weight") == "v[tp:pad=vocab] h");
  CHECK(dims("embedding.position_embeddings.weight") == "*");
  CHECK(dims(layer + "self_attention.linear_qkv.layer_norm_weight") == "*");
  CHECK(dims(layer + "self_attention.linear_qkv.bias") == "x[tp]");
  CHECK(dims(layer + "self_attention.q_layernorm.weight") == "*");
  CHECK(dims(layer + "self_attention.linear_proj.weight") == "x y[tp]");
  CHECK(dims(layer + "mlp.shared_experts.linear_fc1.weight") == "(gate|up)[tp] y");
  CHECK(dims(layer + "mlp.shared_experts.gate_weight") == "*");
  CHECK(dims(layer + "mlp.router.expert_bias") == "*");
  CHECK(dims(layer + "mlp.experts.local_experts.3.linear_fc1.weight") == "(gate|up)[etp] y");
  CHECK(dims(layer + "mlp.experts.linear_fc2.weight17") == "x y[etp]");
  CHECK(dims(layer + "mixer.in_proj.weight") == "(z:16|x:16|B:8|C:8|dt:2)[tp] h");
  CHECK(dims(layer + "mixer.norm.weight") == "x[tp]");
  CHECK(dims(layer + "mixer.A_log") == "x[tp]");
  CHECK(dims("lm_head.dense.weight") == "*");
  CHECK(dims("lm_head.bias") == "v[tp:pad=vocab]");
  CHECK(dims(layer + "something.new").empty());
  CHECK(dims(layer + "self_attention.query_key_value.weight") == "x[tp] y");
  CHECK(dims(layer + "self_attention.query_key_value.weight", 0) == "(q|k|v)[tp] h");
  args.etp = 2;
  CHECK(dims(layer + "mlp.experts.linear_fc2.weight17") == "x y[etp] # etp:=tp");
}

TEST_CASE("names of ranks' directories") {
  CHECK(rank_numbers("mp_rank_01_002_003") == std::vector<std::int64_t>{1, 2, 3});
  CHECK(rank_numbers("mp_rank_00") == std::vector<std::int64_t>{0});
  for (const char* other : {"mp_rank_", "mp_rank_x", "mp_rank_00_", "mp_rank_00_001_002_003",
                            "mp_rank_-1", "mp_rank_00000000001", "rank_00"}) {
    CHECK(rank_numbers(other).empty());
  }
  CHECK(place_of({1, 2}, true, false) == RankPlace{1, 2, 0});
  CHECK(place_of({1, 2}, false, true) == RankPlace{1, 0, 2});
  CHECK_FALSE(place_of({1, 2}, false, false));
  CHECK(directory_of({1, 2, 3}, true, true) == "mp_rank_01_002_003");
}

TEST_CASE("layers of stages: even, uneven, with embedding and loss, and written out") {
  MegatronArgs args;
  args.layers = 8, args.pp = 4;
  CHECK(layers_by_chunk(args) == std::vector<std::int64_t>{2, 2, 2, 2});
  args.vpp = 2;
  CHECK(layers_by_chunk(args) == std::vector<std::int64_t>(8, 1));
  args.vpp = 1, args.first_layers = 1, args.last_layers = 3;
  CHECK(layers_by_chunk(args) == std::vector<std::int64_t>{1, 2, 2, 3});
  args.last_layers.reset();
  CHECK(layers_by_chunk(args).empty());  // seven layers over three stages
  args.first_layers = 2;
  CHECK(layers_by_chunk(args) == std::vector<std::int64_t>{2, 2, 2, 2});
  args.first_layers.reset();
  args.layers = 6, args.embedding_counts = args.loss_counts = true;
  CHECK(layers_by_chunk(args) == std::vector<std::int64_t>{1, 2, 2, 1});
  args.embedding_counts = args.loss_counts = false;
  args.stage_layout = "Et|(t|)*1,tt|ttL";
  CHECK(layers_by_chunk(args) == std::vector<std::int64_t>{1, 1, 2, 2});
  CHECK(layers_of_layout("Et*3|(tt|)*2,m|L") == std::vector<std::int64_t>{3, 2, 2, 0, 0});
  CHECK(layers_of_layout("E(t*2|)*2,t,*3L") == std::vector<std::int64_t>{2, 2, 3});
  CHECK(layers_of_layout("(tt|").empty());
  CHECK(layers_of_layout("t*x").empty());
  CHECK(layers_of_layout("t*99999999999999999999").empty());
  CHECK(layers_of_layout("(tttttttttt)*1000000").empty());
  CHECK(layers_of_layout("q").empty());
}

TEST_CASE("layers are counted where the arguments do not know") {
  MegatronArgs args;
  args.layers = 5, args.pp = 2;
  std::vector<Finding> findings;
  CHECK(first_layers(args, {3, 2}, findings) == std::vector<std::int64_t>{0, 3});
  CHECK(findings.empty());
  args.layers = 4;
  CHECK(first_layers(args, {3, 1}, findings) == std::vector<std::int64_t>{0, 3});
  CHECK(findings.back().severity == Severity::note);
  CHECK(first_layers(args, {3, std::nullopt}, findings) == std::vector<std::int64_t>{0, 2});
  CHECK(findings.back().code == Code::layer_mapping);
  CHECK(findings.back().severity == Severity::error);
}

TEST_CASE("names in the whole model") {
  CHECK(plain_megatron_name("module.module._orig_mod.decoder.layers.0.x") == "decoder.layers.0.x");
  const ChunkPlace place{4, 8, true};
  const auto global = [&](std::string_view name) { return global_megatron_name(name, place); };
  CHECK(global("decoder.layers.1.mlp.x") == "decoder.layers.5.mlp.x");
  CHECK(global("language_model.encoder.layers.1.x") == "language_model.encoder.layers.5.x");
  CHECK(global("mtp.layers.1.x") == "mtp.layers.1.x");
  CHECK(global("decoder.layers.1.mlp.experts.local_experts.2.linear_fc1.weight") ==
        "decoder.layers.5.mlp.experts.local_experts.10.linear_fc1.weight");
  CHECK(global("decoder.layers.1.mlp.experts.linear_fc2.bias3") ==
        "decoder.layers.5.mlp.experts.linear_fc2.bias11");
  CHECK(global("output_layer.weight") == "embedding.word_embeddings.weight");
  CHECK(global("word_embeddings_for_head.weight") ==
        "language_model.embedding.word_embeddings.weight");
}

}  // namespace
}  // namespace ttcheck::formats
