// Rules of align that have no unit of their own.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
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
  CHECK(excluded({meta, freqs}, {meta, freqs}, true) == 0);
  CHECK(excluded({meta, {"rope.freqs.x", {4}}}, {meta}, true) == 0);
}

}  // namespace
}  // namespace ttcheck::align
