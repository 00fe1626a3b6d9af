#include "core/align/recast.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/align/align.hpp"
#include "core/align/dialects.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::align {
namespace {

const tests::ArraySource& nothing() {
  static const tests::ArraySource source(std::vector<std::byte>(1 << 16));
  return source;
}

Tensor tensor(const std::string& name, Shape shape) {
  Tensor made = tests::tensor_of(nothing(), DType::f32, std::move(shape));
  made.identity.name = name;
  made.kind = kind_of_name(name);
  return made;
}

/// A layer of 4 heads on 2, of 2 rows; 8 wide, 6 in the MLP.
std::vector<Tensor> hugging_face() {
  return {tensor("model.embed_tokens.weight", {9, 8}),
          tensor("model.layers.0.input_layernorm.weight", {8}),
          tensor("model.layers.0.self_attn.q_proj.weight", {8, 8}),
          tensor("model.layers.0.self_attn.k_proj.weight", {4, 8}),
          tensor("model.layers.0.self_attn.v_proj.weight", {4, 8}),
          tensor("model.layers.0.self_attn.o_proj.weight", {8, 8}),
          tensor("model.layers.0.post_attention_layernorm.weight", {8}),
          tensor("model.layers.0.mlp.gate_proj.weight", {6, 8}),
          tensor("model.layers.0.mlp.up_proj.weight", {6, 8}),
          tensor("model.layers.0.mlp.down_proj.weight", {8, 6}),
          tensor("model.norm.weight", {8}),
          tensor("lm_head.weight", {9, 8})};
}

std::vector<Tensor> megatron(const std::string& norm1, const std::string& norm2) {
  const std::string layer = "decoder.layers.0.";
  return {tensor("embedding.word_embeddings.weight", {9, 8}),
          tensor(layer + norm1, {8}),
          tensor(layer + "self_attention.linear_qkv.weight", {16, 8}),
          tensor(layer + "self_attention.linear_proj.weight", {8, 8}),
          tensor(layer + norm2, {8}),
          tensor(layer + "mlp.linear_fc1.weight", {12, 8}),
          tensor(layer + "mlp.linear_fc2.weight", {8, 6}),
          tensor("decoder.final_layernorm.weight", {8}),
          tensor("output_layer.weight", {9, 8})};
}

std::vector<Tensor> meta() {
  return {tensor("tok_embeddings.weight", {9, 8}),
          tensor("layers.0.attention_norm.weight", {8}),
          tensor("layers.0.attention.wq.weight", {8, 8}),
          tensor("layers.0.attention.wk.weight", {4, 8}),
          tensor("layers.0.attention.wv.weight", {4, 8}),
          tensor("layers.0.attention.wo.weight", {8, 8}),
          tensor("layers.0.ffn_norm.weight", {8}),
          tensor("layers.0.feed_forward.w1.weight", {6, 8}),
          tensor("layers.0.feed_forward.w3.weight", {6, 8}),
          tensor("layers.0.feed_forward.w2.weight", {8, 6}),
          tensor("norm.weight", {8}),
          tensor("output.weight", {9, 8})};
}

std::vector<Tensor> core() {
  return megatron("self_attention.linear_qkv.layer_norm_weight",
                  "mlp.linear_fc1.layer_norm_weight");
}

std::vector<Tensor> modules() {
  return megatron("input_layernorm.weight", "pre_mlp_layernorm.weight");
}

const Numbers kNumbers = {{"heads", 4}, {"kv_heads", 2}, {"head_dim", 2}};

TEST_CASE("each family meets each other whole") {
  for (const auto& reference : {hugging_face(), core(), modules(), meta()}) {
    for (auto candidate : {hugging_face(), core(), modules(), meta()}) {
      CAPTURE(reference[0].identity.name);
      CAPTURE(candidate[0].identity.name);
      const Alignment done = align(reference, candidate, {}, kNumbers);
      CHECK(done.pairs.size() == reference.size());
      CHECK(done.only_reference.empty());
      CHECK(done.only_candidate.empty());
      for (const PairIndex& pair : done.pairs) {
        CHECK(reference[pair.reference].shape == candidate[pair.candidate].shape);
      }
    }
  }
}

TEST_CASE("what is seen through a map is named after what it is made of") {
  auto candidate = core();
  const auto reference = hugging_face();
  const Alignment done = align(reference, candidate, {}, kNumbers);
  const auto key = std::ranges::find(done.pairs, 3U, &PairIndex::reference);
  REQUIRE(key != done.pairs.end());
  CHECK(candidate[key->candidate].identity.name ==
        "decoder.layers.0.self_attention.linear_qkv.weight[k]");
  CHECK(key->rule == "megatron for hf names");
  auto parts = hugging_face();
  const Alignment back = align(core(), parts, {}, kNumbers);
  const auto fused = std::ranges::find(back.pairs, 2U, &PairIndex::reference);
  REQUIRE(fused != back.pairs.end());
  CHECK(parts[fused->candidate].identity.name ==
        "model.layers.0.self_attn.{q_proj,k_proj,v_proj}.weight");
}

TEST_CASE("optimizer state follows its parameter") {
  const std::vector<Tensor> reference = {
      tensor("model.layers.0.mlp.gate_proj.weight@exp_avg", {6, 8}),
      tensor("model.layers.0.mlp.up_proj.weight@exp_avg", {6, 8})};
  std::vector<Tensor> candidate = {
      tensor("decoder.layers.0.mlp.linear_fc1.weight@exp_avg", {12, 8})};
  CHECK(align(reference, candidate, {}).pairs.size() == 2);
}

TEST_CASE("parts that the reference lacks are left over, the others meet") {
  auto reference = hugging_face();
  reference.erase(reference.begin() + 8);  // up_proj
  auto candidate = core();
  const Alignment done = align(reference, candidate, {}, kNumbers);
  CHECK(done.pairs.size() == reference.size());
  REQUIRE(done.only_candidate.size() == 1);
  CHECK(candidate[done.only_candidate[0]].identity.name ==
        "decoder.layers.0.mlp.linear_fc1.weight[up]");
  CHECK(candidate[done.only_candidate[0]].shape == Shape{6, 8});
}

TEST_CASE("a fused tensor is not met by some of its parts") {
  const auto reference = core();
  auto candidate = hugging_face();
  candidate.erase(candidate.begin() + 3);  // k_proj
  const Alignment done = align(reference, candidate, {}, kNumbers);
  REQUIRE(done.only_reference.size() == 1);
  CHECK(done.only_reference[0] == 2);
  CHECK(done.only_candidate.size() == 2);
}

TEST_CASE("without heads a fused projection stays alone, and what is unknown is said") {
  auto candidate = core();
  const auto reference = hugging_face();
  const Alignment done = align(reference, candidate, {});
  CHECK(done.only_reference.size() == 3);
  CHECK(done.only_candidate.size() == 1);
  CHECK(done.unknown == std::set<std::string>{"head_dim", "heads", "kv_heads"});
}

TEST_CASE("what a config leaves out follows from the rest") {
  auto candidate = core();
  const auto reference = hugging_face();
  const Alignment done =
      align(reference, candidate, {}, {{"heads", 4}, {"kv_heads", 2}, {"hidden", 8}});
  CHECK(done.only_candidate.empty());
  CHECK(done.unknown.empty());
}

TEST_CASE("numbers that overflow do not end the comparison") {
  auto candidate = core();
  const auto reference = hugging_face();
  const std::int64_t huge = std::int64_t{1} << 62;
  const Alignment done =
      align(reference, candidate, {}, {{"heads", huge}, {"kv_heads", 1}, {"head_dim", huge}});
  CHECK(done.only_candidate.size() == 1);
}

TEST_CASE("a map of too many boxes leaves its tensor alone and the others to meet") {
  const std::int64_t heads = std::int64_t{1} << 19;
  const std::vector<Tensor> reference = {
      tensor("model.layers.0.self_attn.q_proj.bias", {2 * heads}),
      tensor("model.layers.0.self_attn.o_proj.weight", {8, 8})};
  std::vector<Tensor> candidate = {tensor("layers.0.attention.wq.bias", {2 * heads}),
                                   tensor("layers.0.attention.wo.weight", {8, 8})};
  const Alignment done =
      align(reference, candidate, {}, {{"heads", heads}, {"kv_heads", 1}, {"head_dim", 2}});
  CHECK(done.pairs.size() == 1);
  CHECK(done.only_reference.size() == 1);
  CHECK(done.only_candidate.size() == 1);
}

TEST_CASE("a user's map cuts and fuses in whichever direction it fits") {
  const MapRule rule{"a.{l}.{q,k,v}.w", "b.{l}.qkv", "qkv_interleave(4, 2, 2)", 3};
  const std::vector<Tensor> parts = {tensor("a.7.q.w", {8, 8}), tensor("a.7.k.w", {4, 8}),
                                     tensor("a.7.v.w", {4, 8})};
  const std::vector<Tensor> fused = {tensor("b.7.qkv", {16, 8})};
  auto candidate = fused;
  CHECK(align(parts, candidate, {{}, {}, {rule}, {}}).pairs.size() == 3);
  candidate = parts;
  const Alignment done = align(fused, candidate, {{}, {}, {rule}, {}});
  REQUIRE(done.pairs.size() == 1);
  CHECK(done.pairs[0].rule == "map a.{l}.{q,k,v}.w");
  CHECK(done.only_candidate.empty());
}

TEST_CASE("a user's concat takes the lengths that the reference has") {
  const MapRule rule{"x.{a,b}", "y", "concat(0)", 1};
  const std::vector<Tensor> reference = {tensor("x.a", {2, 3}), tensor("x.b", {5, 3})};
  std::vector<Tensor> candidate = {tensor("y", {7, 3})};
  const Alignment done = align(reference, candidate, {{}, {}, {rule}, {}});
  CHECK(done.pairs.size() == 2);
}

TEST_CASE("a template that cannot be filled pairs nothing") {
  const MapRule rule{"x.{i}", "y.{j}", "transpose", 1};
  const std::vector<Tensor> reference = {tensor("y.0", {2, 3})};
  std::vector<Tensor> candidate = {tensor("y.1", {2, 3})};
  CHECK(align(reference, candidate, {{}, {}, {rule}, {}}).pairs.empty());
}

TEST_CASE("names are compressed where they differ") {
  CHECK(together(std::vector<std::string>{"a.q.w", "a.k.w"}) == "a.{q,k}.w");
  CHECK(together(std::vector<std::string>{"a.q_proj", "a.k_proj"}) == "a.{q_proj,k_proj}");
  CHECK(together(std::vector<std::string>{"a.w"}) == "a.w");
  CHECK(together(std::vector<std::string>{"a", "a"}) == "{a,a}");
  CHECK(together(std::vector<std::string>{"ab.c", "ac.c"}) == "{ab,ac}.c");
}

TEST_CASE("names of parameters alone are read") {
  CHECK(dialect_readings("model.layers.0.self_attn.rotary_emb.inv_freq").empty());
  CHECK(dialect_readings("weight").empty());
  CHECK(dialect_readings("").empty());
  CHECK(dialect_readings(".weight").empty());
  CHECK(dialect_readings("layers.#.attention.wq.weight").empty());
  const auto grouped = dialect_readings("decoder.layers.1.mlp.experts.linear_fc2.weight13");
  REQUIRE(grouped.size() == 1);
  CHECK(grouped[0].parts == std::vector<std::string>{"layers.1.experts.13.fc2.weight"});
  const auto score = dialect_readings("model.layers.4.mlp.gate.e_score_correction_bias");
  REQUIRE(score.size() == 1);
  CHECK(score[0].parts == std::vector<std::string>{"layers.4.router_offset.bias"});
}

}  // namespace
}  // namespace ttcheck::align
