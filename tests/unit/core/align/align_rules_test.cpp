// SPDX-License-Identifier: Apache-2.0
// Rules of align that have no unit of their own.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/align/align.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/named_tensor.hpp"

namespace ttcheck::align {
namespace {

using Words = std::vector<std::string>;

struct Stored {
  std::string name;
  Shape shape = {2, 3};
  DType dtype = DType::f32;
};

std::vector<Tensor> tensors_of(const std::vector<Stored>& list) {
  static const tests::ArraySource source(std::vector<std::byte>(1 << 12));
  std::vector<Tensor> all;
  for (const Stored& one : list) {
    all.push_back(tests::named(one.name, tests::tensor_of(source, one.dtype, one.shape)));
  }
  return all;
}

/// `left-right rule` of each pair but those of rule "same", in order of the left side.
Words met(const std::vector<Stored>& left, const std::vector<Stored>& right,
          const AlignOptions& options = {}) {
  const std::vector<Tensor> reference = tensors_of(left);
  std::vector<Tensor> candidate = tensors_of(right);
  Words words;
  for (const PairIndex& pair : align(reference, candidate, options).pairs) {
    if (pair.rule == "same") continue;
    words.push_back(reference[pair.reference].identity.name + "-" +
                    candidate[pair.candidate].identity.name + " " + pair.rule);
  }
  return words;
}

struct Row {
  std::string what;
  std::vector<Stored> left, right;
  Words pairs;  ///< without the rule
};

/// Both ways round.
void check(const std::vector<Row>& rows, const std::string& rule) {
  for (const Row& row : rows) {
    INFO(row.what);
    Words expected, turned;
    for (const std::string& pair : row.pairs) {
      const std::size_t dash = pair.find('-');
      expected.push_back(pair + " " + rule);
      turned.push_back(pair.substr(dash + 1) + "-" + pair.substr(0, dash) + " " + rule);
    }
    CHECK(met(row.left, row.right) == expected);
    Words found = met(row.right, row.left);
    std::ranges::sort(found);
    std::ranges::sort(turned);
    CHECK(found == turned);
  }
}

TEST_CASE("a position of a tuple meets the field that is the only one like it") {
  check(
      {{"one", {{"p.0"}}, {{"p.left"}}, {"p.0-p.left"}},
       {"of two shapes", {{"p.0"}, {"p.1", {5}}}, {{"p.a", {5}}, {"p.b"}}, {"p.0-p.b", "p.1-p.a"}},
       {"of two dtypes",
        {{"p.0"}, {"p.1", {2, 3}, DType::i32}},
        {{"p.b", {2, 3}, DType::i32}, {"p.a"}},
        {"p.0-p.a", "p.1-p.b"}},
       {"a longer number", {{"p.q.10"}}, {{"p.q.left"}}, {"p.q.10-p.q.left"}},
       {"two like it", {{"p.0"}, {"p.1"}}, {{"p.a"}, {"p.b"}}, {}},
       {"of other parents", {{"p.0"}}, {{"q.left"}}, {}},
       {"of another shape", {{"p.0"}}, {{"p.left", {3, 2}}}, {}},
       {"of another dtype", {{"p.0"}}, {{"p.left", {2, 3}, DType::f64}}, {}},
       {"two positions", {{"p.0"}}, {{"p.1"}}, {}},
       {"two fields", {{"p.a"}}, {{"p.b"}}, {}},
       {"no number", {{"p.0a"}}, {{"p.left"}}, {}},
       {"without a parent", {{"0"}}, {{"left"}}, {}},
       {"without a parent, of a field's", {{"0"}}, {{"0.left"}}, {}},
       {"nothing behind the dot", {{"p."}}, {{"p.left"}}, {}}},
      "tuple position for field");
}

TEST_CASE("a tied module of a pipeline meets the layer that is the only one like it") {
  check({{"one",
          {{"tied_modules.embed.weight"}},
          {{"0.weight"}},
          {"tied_modules.embed.weight-0.weight"}},
         {"among others",
          {{"tied_modules.embed.weight"}, {"tied_modules.embed.bias", {3}}},
          {{"12.bias", {3}}, {"7.weight"}},
          {"tied_modules.embed.weight-7.weight", "tied_modules.embed.bias-12.bias"}},
         {"two like it", {{"tied_modules.embed.weight"}}, {{"0.weight"}, {"1.weight"}}, {}},
         {"of another shape", {{"tied_modules.embed.weight"}}, {{"0.weight", {3, 2}}}, {}},
         {"another parameter", {{"tied_modules.embed.weight"}}, {{"0.gain"}}, {}},
         {"no number", {{"tied_modules.embed.weight"}}, {{"0a.weight"}}, {}},
         {"nothing ahead of the dot", {{"tied_modules.embed.weight"}}, {{".weight"}}, {}},
         {"no dot behind", {{"tied_modules.embed"}}, {{"0"}}, {}},
         {"no dot behind, of one name", {{"tied_modules.0"}}, {{"7.0"}}, {}},
         {"no dot behind, but a number", {{"tied_modules.0.7"}}, {{"7"}}, {}},
         {"no tied module", {{"modules.embed.weight"}}, {{"0.weight"}}, {}}},
        "tied module for its layer");
}

TEST_CASE("a master stands for its parameter where that is all there is") {
  check({{"one", {{"w"}}, {{"w@master"}}, {"w-w@master"}},
         {"under a model's prefix",
          {{"model.w"}},
          {{"module.w@master"}},
          {"model.w-module.w@master"}},
         {"of another parameter", {{"w"}}, {{"v@master"}}, {}},
         {"a moment", {{"w@exp_avg"}}, {{"w@exp_avg@master"}}, {}}},
        "master-for-param");
}

TEST_CASE("what a layer of prediction has a copy of meets what the original met") {
  const std::string layer = "model.layers.1.";
  const std::vector<Stored> plain = {{"model.embed_tokens.weight", {4, 2}},
                                     {"lm_head.weight", {4, 2}},
                                     {layer + "eh_proj.weight", {2, 4}}};
  const auto with = [&](const std::vector<Stored>& more) {
    std::vector<Stored> all = plain;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const Stored embedding{layer + "embed_tokens.weight", {4, 2}};
  const Stored head{layer + "shared_head.head.weight", {4, 2}};
  const std::string rule = " copy of a shared parameter";
  const std::string to_embedding = "model.embed_tokens.weight", to_head = "lm_head.weight";
  CHECK(met(with({embedding, head}), plain) ==
        Words{embedding.name + "-" + to_embedding + rule, head.name + "-" + to_head + rule});
  CHECK(met(plain, with({embedding, head})) ==
        Words{to_embedding + "-" + embedding.name + rule, to_head + "-" + head.name + rule});
  // Without a head of its own the model's is the embedding.
  std::vector<Stored> tied = with({head});
  tied.erase(tied.begin() + 1);
  std::vector<Stored> tied_plain = plain;
  tied_plain.erase(tied_plain.begin() + 1);
  CHECK(met(tied, tied_plain) == Words{head.name + "-" + to_embedding + rule});
  // Of another shape it is no copy.
  CHECK(met(with({{embedding.name, {2, 4}}}), plain).empty());
  CHECK(met(plain, with({{embedding.name, {2, 4}}})).empty());
  // In a layer that predicts nothing it is none, either.
  CHECK(met(with({{"model.layers.0.embed_tokens.weight", {4, 2}}}), plain).empty());
}

TEST_CASE("numbers that configs leave out follow from the others") {
  struct Case {
    Numbers numbers;
    bool meets;
  };
  const MapRule map{"{q,k,v}", "qkv", "qkv_v0(heads, kv_heads, head_dim)", 1};
  const std::vector<Stored> parts = {{"q", {8, 3}}, {"k", {8, 3}}, {"v", {8, 3}}};
  for (const Case& one :
       {Case{{{"heads", 2}, {"hidden", 8}}, true}, Case{{{"heads", 2}, {"head_dim", 4}}, true},
        Case{{{"heads", 2}, {"kv_heads", 2}, {"hidden", 8}}, true},
        Case{{{"heads", 1}, {"hidden", 8}}, true},
        Case{{{"heads", 2}, {"kv_heads", 1}, {"hidden", 8}}, false},
        Case{{{"heads", 2}, {"hidden", 8}, {"head_dim", 2}}, false},
        Case{{{"heads", 2}, {"hidden", 9}}, false}, Case{{{"heads", 2}}, false},
        Case{{{"hidden", 8}}, false}, Case{{{"heads", 0}, {"hidden", 8}}, false},
        Case{{{"heads", -2}, {"hidden", -8}}, false}}) {
    AlignOptions options;
    options.maps = {map};
    options.numbers = one.numbers;
    INFO(one.numbers.size());
    CHECK(met(parts, {{"qkv", {24, 3}}}, options).size() == (one.meets ? 3 : 0));
  }
}

TEST_CASE("key and value heads are as many as query heads where a config names no others") {
  AlignOptions options;
  options.numbers = {{"heads", 2}, {"head_dim", 4}};
  CHECK(met({{"layers.0.attention.wk.weight", {8, 3}}},
            {{"model.layers.0.self_attn.k_proj.weight", {8, 3}}}, options)
            .size() == 1);
}

TEST_CASE("a map of the user may say that names are left out") {
  AlignOptions options;
  options.maps = {{"x.*", "", "ignore", 1}};
  const std::vector<Tensor> reference = tensors_of({{"w"}, {"x.a"}});
  std::vector<Tensor> candidate = tensors_of({{"x.b"}, {"x.c"}, {"w"}});
  const Alignment done = align(reference, candidate, options);
  CHECK(done.pairs.size() == 1);
  CHECK(done.excluded_by ==
        std::vector<std::pair<std::string, std::int64_t>>{{"map ignore x.*", 3}});
}

TEST_CASE("what a map does not match meets no tensor without a name") {
  AlignOptions options;
  for (const char* op : {"same", "scale(2)"}) {
    options.maps = {{"a", "b", op, 1}};
    CHECK(met({{"x"}}, {{""}}, options).empty());
    CHECK(met({{""}}, {{"x"}}, options).empty());
  }
}

/// What the map makes of the reference's 3, and of the candidate's 3.
std::string changed(const Rescaling* made) {
  if (made == nullptr) return "";
  const auto of = [](const ValueMap& map) {
    return std::to_string(static_cast<int>(3 * map.factor / map.divisor + map.addend));
  };
  return " " + of(made->forward) + " " + of(made->back);
}

TEST_CASE("a map that changes values pairs either way round, and masters for their parameters") {
  struct Case {
    std::vector<Stored> left, right;
    Words pairs;  ///< with what becomes of 3
  };
  AlignOptions options;
  options.maps = {{"a", "b", "scale(3)", 1}};
  const Stored integers{"a", {2, 3}, DType::i32};
  const Stored whole_master{"a@master", {2, 3}, DType::i32};
  for (const Case& one :
       std::vector<Case>{{{{"a"}}, {{"b"}}, {"a-b 9 1"}},
                         {{{"b"}}, {{"a"}}, {"b-a 1 9"}},
                         {{{"a@master"}}, {{"b"}}, {"a@master-b 9 1"}},
                         {{{"a"}}, {{"b@master"}}, {"a-b@master 9 1"}},
                         {{{"b@master"}}, {{"a"}}, {"b@master-a 1 9"}},
                         {{{"b"}}, {{"a@master"}}, {"b-a@master 1 9"}},
                         {{{"a@exp_avg"}}, {{"b@exp_avg"}}, {"a@exp_avg-b@exp_avg 1 9"}},
                         {{integers}, {{"b"}}, {}},  // no map rounds integers
                         {{{"b"}}, {integers}, {}},
                         {{whole_master}, {{"b"}}, {}},
                         {{{"a@exp_avg"}}, {{"b"}}, {}}}) {
    const std::vector<Tensor> reference = tensors_of(one.left);
    std::vector<Tensor> candidate = tensors_of(one.right);
    const Alignment done = align(reference, candidate, options);
    Words found;
    for (const PairIndex& pair : done.pairs) {
      found.push_back(reference[pair.reference].identity.name + "-" +
                      candidate[pair.candidate].identity.name + changed(pair.rescaling));
      CHECK(pair.rule == "map a, scale(3)");
    }
    INFO(one.left[0].name << " and " << one.right[0].name);
    CHECK(found == one.pairs);
    CHECK(done.unknown.empty());
  }
}

TEST_CASE("a map by a number that is not known changes nothing, and says so") {
  AlignOptions options;
  options.maps = {{"a", "b", "scale(depth)", 1}};
  const std::vector<Tensor> reference = tensors_of({{"a"}});
  std::vector<Tensor> candidate = tensors_of({{"b"}});
  const Alignment done = align(reference, candidate, options);
  CHECK(done.pairs.empty());
  CHECK(done.unknown == std::set<std::string>{"depth"});
  options.numbers = {{"depth", 2}};
  CHECK(align(reference, candidate, options).pairs.size() == 1);
}

TEST_CASE("two maps that change the values of one tensor are refused") {
  AlignOptions options;
  options.maps = {{"a", "b", "scale(2)", 1}, {"a", "b", "add(2)", 2}};
  CHECK_THROWS_AS(met({{"a"}}, {{"b"}}, options), Error);
}

TEST_CASE("a copy of what a map changed is no copy of what it met") {
  const std::string copy = "model.layers.1.embed_tokens.weight";
  const std::vector<Stored> left = {{"model.embed_tokens.weight", {4, 2}},
                                    {"model.layers.1.eh_proj.weight", {2, 4}},
                                    {copy, {4, 2}}};
  const std::vector<Stored> right = {{"embedding", {4, 2}},
                                     {"model.layers.1.eh_proj.weight", {2, 4}}};
  AlignOptions options;
  for (const bool scaled : {false, true}) {
    options.maps = {{"model.embed_tokens.weight", "embedding", scaled ? "scale(2)" : "same", 1}};
    CHECK(met(left, right, options).size() == (scaled ? 1 : 2));
    CHECK(met(right, left, options).size() == (scaled ? 1 : 2));
  }
}

TEST_CASE("experts of which nothing tells which way they lie stay alone, and are named") {
  const Stored stack{"model.layers.0.mlp.experts.down_proj", {2, 4, 4}};
  const Stored single{"model.layers.0.mlp.experts.0.down_proj.weight", {4, 4}};
  const Stored other{"model.norm.weight", {4}};
  for (const bool swapped : {false, true}) {
    const std::vector<Tensor> reference =
        tensors_of(swapped ? std::vector{single} : std::vector{stack, other});
    std::vector<Tensor> candidate =
        tensors_of(swapped ? std::vector{stack, other} : std::vector{single});
    const Alignment done = align(reference, candidate, {});
    CHECK(done.pairs.empty());
    CHECK(done.unclear == std::set<std::string>{stack.name});
  }
}

TEST_CASE("stacks under one name that are turned against each other are not held together") {
  // As stacks of one shape they would be; f = 2, h = 4 make gate_up_proj square.
  const std::string layer = "model.layers.0.mlp.experts.";
  const std::vector<Stored> upright = {{layer + "gate_up_proj", {2, 4, 4}},
                                       {layer + "down_proj", {2, 4, 2}}};
  const std::vector<Stored> turned = {{layer + "gate_up_proj", {2, 4, 4}},
                                      {layer + "down_proj", {2, 2, 4}}};
  for (const auto& [left, right] : {std::pair(upright, turned), {turned, upright}}) {
    const std::vector<Tensor> reference = tensors_of(left);
    std::vector<Tensor> candidate = tensors_of(right);
    const Alignment done = align(reference, candidate, {});
    REQUIRE(done.pairs.size() == 2);
    CHECK(done.only_reference.empty());
    CHECK(done.only_candidate.empty());
    for (const PairIndex& pair : done.pairs) {
      CHECK(pair.candidate >= 2);  // seen through a map
      CHECK(candidate[pair.candidate].shape == reference[pair.reference].shape);
    }
  }
}

TEST_CASE("frequencies are excluded where families meet, and kept where both sides have them") {
  const auto excluded = [](const std::vector<Stored>& left, const std::vector<Stored>& right,
                           bool other_writer) {
    const std::vector<Tensor> reference = tensors_of(left);
    std::vector<Tensor> candidate = tensors_of(right);
    AlignOptions options;
    options.other_writer = other_writer;
    std::int64_t count = 0;
    for (const auto& [rule, n] : align(reference, candidate, options).excluded_by) count += n;
    return count;
  };
  const Stored meta{"layers.0.ffn_norm.weight", {8}};
  const Stored hf{"model.layers.0.post_attention_layernorm.weight", {8}};
  const Stored freqs{"rope.freqs", {4}};
  const Stored inverse{"model.layers.0.self_attn.rotary_emb.inv_freq", {4}};
  CHECK(excluded({meta, freqs}, {hf}, false) == 1);
  CHECK(excluded({meta, freqs}, {hf, inverse}, false) == 2);
  CHECK(excluded({meta}, {hf, inverse}, false) == 1);
  CHECK(excluded({meta, freqs}, {meta}, false) == 0);
  CHECK(excluded({meta, freqs}, {meta}, true) == 1);
  CHECK(excluded({hf, inverse}, {hf}, false) == 1);
  CHECK(excluded({hf, inverse}, {hf, inverse}, false) == 0);
  CHECK(excluded({meta, freqs}, {meta, freqs}, true) == 0);
  CHECK(excluded({meta, {"rope.freqs.x", {4}}}, {meta}, true) == 0);
  // A rule of other words is no meeting of families: spellings of one, a map of the user.
  const Stored spelled{"mtp.layers.0.transformer_layer.input_layernorm.weight", {8}};
  const Stored other_spelling{"mtp.layers.0.mtp_model_layer.input_layernorm.weight", {8}};
  CHECK(excluded({spelled, freqs}, {other_spelling}, false) == 0);
  AlignOptions options;
  for (const char* name : {"a names", "a for b"}) {
    options.maps = {{name, "c", "same", 1}};
    const std::vector<Tensor> reference = tensors_of({{name}, freqs});
    std::vector<Tensor> candidate = tensors_of({{"c"}});
    const Alignment done = align(reference, candidate, options);
    CHECK(done.pairs.size() == 1);
    CHECK(done.excluded_by.empty());
  }
}

}  // namespace
}  // namespace ttcheck::align
