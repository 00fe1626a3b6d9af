// SPDX-License-Identifier: Apache-2.0
#include "core/align/recast.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/align/align.hpp"
#include "core/align/dialects.hpp"
#include "core/align/map_rules.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/named_tensor.hpp"

namespace ttcheck::align {
namespace {

const tests::ArraySource& nothing() {
  static const tests::ArraySource source(std::vector<std::byte>(1 << 16));
  return source;
}

Tensor tensor(const std::string& name, Shape shape) {
  return tests::named(name, tests::tensor_of(nothing(), DType::f32, std::move(shape)));
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

TEST_CASE("masters alone meet the weights of another family") {
  auto masters = hugging_face();
  for (Tensor& one : masters) one = tests::named(one.identity.name + "@master", one);
  for (const auto& [reference, other] : {std::pair(core(), masters), std::pair(masters, core())}) {
    auto candidate = other;
    const Alignment done = align(reference, candidate, {}, kNumbers);
    CHECK(done.pairs.size() == reference.size());
    CHECK(done.only_candidate.empty());
    CHECK(done.pairs.back().rule.ends_with(", master-for-param"));
  }
  auto both = masters;
  for (const Tensor& weight : hugging_face()) both.push_back(weight);
  const Alignment done = align(core(), both, {}, kNumbers);
  CHECK(done.pairs.size() == core().size());
  for (const PairIndex& pair : done.pairs) CHECK(both[pair.candidate].kind == Kind::weight);
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
  CHECK(align(parts, candidate, {.maps = {rule}}).pairs.size() == 3);
  candidate = parts;
  const Alignment done = align(fused, candidate, {.maps = {rule}});
  REQUIRE(done.pairs.size() == 1);
  CHECK(done.pairs[0].rule == "map a.{l}.{q,k,v}.w");
  CHECK(done.only_candidate.empty());
}

TEST_CASE("a user's concat takes the lengths that the reference has") {
  const MapRule rule{"x.{a,b}", "y", "concat(0)", 1};
  const std::vector<Tensor> reference = {tensor("x.a", {2, 3}), tensor("x.b", {5, 3})};
  std::vector<Tensor> candidate = {tensor("y", {7, 3})};
  const Alignment done = align(reference, candidate, {.maps = {rule}});
  CHECK(done.pairs.size() == 2);
}

TEST_CASE("a template that cannot be filled pairs nothing") {
  const MapRule rule{"x.{i}", "y.{j}", "transpose", 1};
  const std::vector<Tensor> reference = {tensor("y.0", {2, 3})};
  std::vector<Tensor> candidate = {tensor("y.1", {2, 3})};
  CHECK(align(reference, candidate, {.maps = {rule}}).pairs.empty());
}

TEST_CASE("reshape takes the shape that the reference has, on either side") {
  const MapRule rule{"x.{l}.w", "y.{l}", "reshape", 1};
  const std::vector<Tensor> parts = {tensor("x.3.w", {4, 6})};
  const std::vector<Tensor> wholes = {tensor("y.3", {2, 2, 6})};
  auto candidate = wholes;
  const Alignment done = align(parts, candidate, {.maps = {rule}});
  REQUIRE(done.pairs.size() == 1);
  CHECK(candidate[done.pairs[0].candidate].shape == Shape{4, 6});
  candidate = parts;
  CHECK(align(wholes, candidate, {.maps = {rule}}).pairs.size() == 1);
  candidate = {tensor("y.3", {5, 5})};
  CHECK(align(parts, candidate, {.maps = {rule}}).pairs.empty());
}

TEST_CASE("what lies outside of a slice is said under the map's name, and no tensor of its own") {
  const MapRule rule{"padded", "own", "slice(0, 0, rows)", 1};
  const std::vector<Tensor> padded = {tensor("padded", {12, 4})};
  const std::vector<Tensor> own = {tensor("own", {9, 4})};
  for (const auto& [reference, other] : {std::pair(padded, own), std::pair(own, padded)}) {
    auto candidate = other;
    const Alignment done = align(reference, candidate, {.maps = {rule}}, {{"rows", 9}});
    REQUIRE(done.pairs.size() == 1);
    CHECK(candidate[done.pairs[0].candidate].shape == reference[0].shape);
    CHECK(done.excluded_by.empty());
    REQUIRE(done.sliced_by.size() == 1);
    CHECK(done.sliced_by[0] == std::pair(std::string("map padded"), std::int64_t{1}));
  }
  auto candidate = padded;
  const MapRule all{"padded", "own", "slice(0, 0, 12)", 1};
  CHECK(align(std::vector{tensor("own", {12, 4})}, candidate, {.maps = {all}}).sliced_by.empty());
}

TEST_CASE("the arguments of glu say which half comes first") {
  const auto first_rows = [](const std::string& list, const std::string& op) {
    const std::vector<Tensor> reference = {tensor("x.gate", {2, 3}), tensor("x.up", {2, 3})};
    std::vector<Tensor> candidate = {tensor("y", {4, 3})};
    align(reference, candidate, {.maps = {{"x." + list, "y", op, 1}}});
    std::map<std::string, std::int64_t> start;
    for (const Tensor& seen : candidate) {
      if (seen.pieces[0].cells.empty()) continue;
      start[seen.identity.name] = seen.pieces[0].cells[0].start;
    }
    return start;
  };
  const std::map<std::string, std::int64_t> gate_first = {{"y[gate]", 0}, {"y[up]", 6}};
  const std::map<std::string, std::int64_t> up_first = {{"y[gate]", 6}, {"y[up]", 0}};
  CHECK(first_rows("{gate,up}", "glu") == gate_first);
  CHECK(first_rows("{up,gate}", "glu") == up_first);
  for (const std::string list : {"{gate,up}", "{up,gate}"}) {
    CHECK(first_rows(list, "glu(gate, up)") == gate_first);
    CHECK(first_rows(list, "glu(up, gate)") == up_first);
  }
  CHECK_THROWS_AS(first_rows("{gate,up}", "glu(a, b)"), Error);
  CHECK_THROWS_AS(first_rows("gate", "glu(gate, up)"), Error);
  const MapRule spelled{"x.{w1,w3}", "y", "glu(up, gate)", 1};
  CHECK(UserMap(spelled).readings("y").at(0).parts == std::vector<std::string>{"x.w3", "x.w1"});
}

TEST_CASE("a tie of the user's map: what one side does not store is compared with what it keeps") {
  const MapRule rule{"lm_head.weight", "output.weight", "tie(embed.weight)", 1};
  const std::vector<Tensor> both = {tensor("embed.weight", {9, 8}),
                                    tensor("lm_head.weight", {9, 8})};
  const std::vector<Tensor> one = {tensor("embed.weight", {9, 8})};
  for (const auto& [reference, other] : {std::pair(both, one), std::pair(one, both)}) {
    auto candidate = other;
    const Alignment done = align(reference, candidate, {.maps = {rule}});
    CHECK(done.pairs.size() == 2);
    CHECK(done.only_reference.empty());
    CHECK(done.only_candidate.empty());
  }
  std::vector<Tensor> renamed = {tensor("embed.weight", {9, 8}), tensor("output.weight", {9, 8})};
  const Alignment done = align(both, renamed, {.maps = {rule}});
  REQUIRE(done.pairs.size() == 2);
  CHECK(done.pairs[1].rule == "map lm_head.weight");
}

TEST_CASE("a cast of the user's map pairs weights of that dtype alone, and their state") {
  const MapRule rule{"a.{n}", "b.{n}", "cast(bf16)", 1};
  const std::vector<Tensor> reference = {tensor("a.0", {4}), tensor("a.1", {4}),
                                         tensor("a.0@exp_avg", {4})};
  std::vector<Tensor> candidate = {tensor("b.0", {4}), tensor("b.1", {4}),
                                   tensor("b.0@exp_avg", {4})};
  candidate[0].dtype = DType::bf16;
  const Alignment done = align(reference, candidate, {.maps = {rule}});
  CHECK(done.pairs.size() == 2);
  CHECK(done.only_reference == std::vector<std::size_t>{1});
}

/// Two experts of [3, 8] in each of a layer's projections, as modules of their own.
std::vector<Tensor> single_experts(const std::string& layer) {
  std::vector<Tensor> made;
  for (const std::string expert : {"0.", "1."}) {
    const std::string name = layer + "experts." + expert;
    made.push_back(tensor(name + "gate_proj.weight", {3, 8}));
    made.push_back(tensor(name + "up_proj.weight", {3, 8}));
    made.push_back(tensor(name + "down_proj.weight", {8, 3}));
  }
  return made;
}

std::vector<Tensor> grouped_experts() {
  const std::string name = "decoder.layers.0.mlp.experts.";
  return {tensor(name + "linear_fc1.weight0", {6, 8}), tensor(name + "linear_fc1.weight1", {6, 8}),
          tensor(name + "linear_fc2.weight0", {8, 3}), tensor(name + "linear_fc2.weight1", {8, 3})};
}

std::vector<Tensor> sequential_experts() {
  const std::string name = "decoder.layers.0.mlp.experts.local_experts.";
  return {
      tensor(name + "0.linear_fc1.weight", {6, 8}), tensor(name + "1.linear_fc1.weight", {6, 8}),
      tensor(name + "0.linear_fc2.weight", {8, 3}), tensor(name + "1.linear_fc2.weight", {8, 3})};
}

std::vector<Tensor> joined_experts(const std::string& layer, bool turned) {
  return {tensor(layer + "experts.gate_up_proj", turned ? Shape{2, 8, 6} : Shape{2, 6, 8}),
          tensor(layer + "experts.down_proj", turned ? Shape{2, 3, 8} : Shape{2, 8, 3})};
}

TEST_CASE("experts in one tensor meet those of modules and of Megatron, upright and transposed") {
  const std::string qwen = "model.layers.0.mlp.";
  const std::string llama = "language_model.model.layers.0.feed_forward.";
  const std::vector<std::vector<Tensor>> joined = {
      joined_experts(qwen, false), joined_experts(qwen, true), joined_experts(llama, true)};
  for (const auto& experts : joined) {
    for (const auto& others : {single_experts(qwen), grouped_experts(), sequential_experts()}) {
      for (const auto& [reference, other] :
           {std::pair(experts, others), std::pair(others, experts)}) {
        CAPTURE(reference[0].identity.name);
        CAPTURE(other[0].identity.name);
        auto candidate = other;
        const Alignment done = align(reference, candidate, {});
        CHECK(done.pairs.size() == reference.size());
        CHECK(done.only_reference.empty());
        CHECK(done.only_candidate.empty());
        for (const PairIndex& pair : done.pairs) {
          CHECK(reference[pair.reference].shape == candidate[pair.candidate].shape);
        }
      }
    }
  }
}

TEST_CASE("square experts lie as the projection beside them says, and else stay alone") {
  const std::string layer = "model.layers.0.mlp.";
  for (const auto& [rows, width] : {std::pair(4, 4), std::pair(2, 4)}) {
    std::vector<Tensor> single;
    for (const std::string expert : {"0.", "1."}) {
      const std::string name = layer + "experts." + expert;
      single.push_back(tensor(name + "gate_proj.weight", {rows, width}));
      single.push_back(tensor(name + "up_proj.weight", {rows, width}));
      single.push_back(tensor(name + "down_proj.weight", {width, rows}));
    }
    const bool square_down = rows == width;
    for (const bool turned : {false, true}) {
      const Shape wide = turned ? Shape{2, width, 2 * rows} : Shape{2, 2 * rows, width};
      const Shape down = turned ? Shape{2, rows, width} : Shape{2, width, rows};
      std::vector<Tensor> seen = {tensor(layer + "experts.gate_up_proj", wide),
                                  tensor(layer + "experts.down_proj", down)};
      const std::size_t square = square_down ? 1 : 0;
      std::vector<Tensor> lonely = {seen[square]};
      CHECK(align(single, seen, {}).pairs.size() == 6);
      const std::string part = lonely[0].identity.name + (square_down ? "[0]" : "[0.gate]");
      const auto found =
          std::ranges::find(seen, part, [](const Tensor& one) { return one.identity.name; });
      REQUIRE(found != seen.end());
      const Extents& strides = found->pieces[0].cells[0].strides;
      CHECK(strides.front() == (turned ? 1 : 4));
      const Alignment alone = align(single, lonely, {});
      CHECK(alone.pairs.empty());
      CHECK(alone.unclear.contains(lonely[0].identity.name));
    }
  }
}

TEST_CASE("experts with biases have gate and up in turn") {
  const std::string layer = "model.layers.0.mlp.";
  auto experts = joined_experts(layer, true);
  experts.push_back(tensor(layer + "experts.gate_up_proj_bias", {2, 6}));
  experts.push_back(tensor(layer + "experts.down_proj_bias", {2, 8}));
  std::vector<Tensor> candidate = grouped_experts();
  const std::string name = "decoder.layers.0.mlp.experts.";
  for (const std::string expert : {"0", "1"}) {
    candidate.push_back(tensor(name + "linear_fc1.bias" + expert, {6}));
    candidate.push_back(tensor(name + "linear_fc2.bias" + expert, {8}));
  }
  const Alignment done = align(experts, candidate, {});
  CHECK(done.pairs.size() == 4);
  CHECK(done.only_candidate.empty());
  // The second row of expert 0's gate is its third column here.
  std::vector<Tensor> seen = experts;
  const auto single = single_experts(layer);
  align(single, seen, {});
  const auto gate = std::ranges::find(seen, "model.layers.0.mlp.experts.gate_up_proj[0.gate]",
                                      [](const Tensor& one) { return one.identity.name; });
  REQUIRE(gate != seen.end());
  CHECK(gate->pieces[0].cells[0].strides == Extents{2, 6});
}

TEST_CASE("a stack of more experts than there are is not read as its parts") {
  const Readings read = dialects(ExpertStacks({}, {}), LayerNames({}));
  CHECK(read(tensor("layers.0.mlp.experts.down_proj", {5000, 1, 1})).empty());
  CHECK(read(tensor("layers.0.mlp.experts.down_proj", {7, 0, 1})).empty());
  CHECK(read(tensor("layers.0.mlp.experts.down_proj", {})).empty());
}

TEST_CASE("names of parameters alone are read") {
  const auto read_name = [](const std::string& name) {
    return dialects(ExpertStacks({}, {}), LayerNames({}))(tensor(name, {2, 2}));
  };
  CHECK(read_name("model.layers.0.self_attn.rotary_emb.inv_freq").empty());
  CHECK(read_name("weight").empty());
  CHECK(read_name("").empty());
  CHECK(read_name(".weight").empty());
  CHECK(read_name("layers.#.attention.wq.weight").empty());
  const auto grouped = read_name("decoder.layers.1.mlp.experts.linear_fc2.weight13");
  REQUIRE(grouped.size() == 1);
  CHECK(grouped[0].parts == std::vector<std::string>{"layers.1.experts.13.fc2.weight"});
  const auto score = read_name("model.layers.4.mlp.gate.e_score_correction_bias");
  REQUIRE(score.size() == 1);
  CHECK(score[0].parts == std::vector<std::string>{"layers.4.router_offset.bias"});
}

TEST_CASE("a part is used once; what nothing uses is left over") {
  const std::vector<Tensor> reference = {tensor("a", {2, 2}), tensor("b", {2, 2})};
  const std::vector<Tensor> candidate = {tensor("whole", {4, 2}), tensor("other", {1})};
  const Readings readings = [](const Tensor& one) -> std::vector<Reading> {
    if (one.identity.name == "whole") return {{"s", {"p", "q"}, parse_op("concat(0)")}};
    return {{"s", {one.identity.name == "other" ? "r" : "p"}, {}}};
  };
  const std::vector<std::size_t> both = {0, 1};
  const Recasts made = recast({reference, both, readings}, {candidate, both, readings}, {});
  REQUIRE(made.pairs.size() == 1);
  CHECK(made.pairs[0].reference == 0);
  CHECK(made.pairs[0].seen.identity.name == "whole[p]");
  CHECK(made.used == std::vector<std::size_t>{0});
  REQUIRE(made.rest.size() == 1);
  CHECK(made.rest[0].identity.name == "whole[q]");
}

}  // namespace
}  // namespace ttcheck::align
