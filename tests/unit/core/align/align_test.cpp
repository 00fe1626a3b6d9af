#include "core/align/align.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/align/model_order.hpp"
#include "core/align/neighbours.hpp"

namespace ttcheck::align {
namespace {

Tensor tensor(const std::string& name, Shape shape = {2, 3}) {
  Tensor made;
  made.identity.name = name;
  made.kind = kind_of_name(name);
  made.shape = std::move(shape);
  return made;
}

std::vector<Tensor> tensors(std::initializer_list<std::string> names) {
  std::vector<Tensor> all;
  for (const std::string& name : names) all.push_back(tensor(name));
  return all;
}

/// As align, of a copy of the candidate.
Alignment meet(const std::vector<Tensor>& reference, std::vector<Tensor> candidate,
               const AlignOptions& options = {}) {
  return align(reference, candidate, options);
}

/// Pairs, leftovers and exclusions are all tensors, each once.
void check_counts(const Alignment& done, std::size_t reference, std::size_t candidate) {
  std::int64_t excluded = 0;
  for (const auto& [rule, count] : done.excluded_by) excluded += count;
  CHECK(static_cast<std::int64_t>(2 * done.pairs.size() + done.only_reference.size() +
                                  done.only_candidate.size()) +
            excluded ==
        static_cast<std::int64_t>(reference + candidate));
}

TEST_CASE("the language part of a model that sees meets itself, in memory and on disk") {
  const auto left = tensors({"model.language_model.layers.0.w", "lm_head.weight",
                             "model.vision_tower.w", "model.other.language_model.w"});
  const auto right = tensors({"language_model.model.layers.0.w", "language_model.lm_head.weight",
                              "vision_tower.w", "other.w"});
  const Alignment done = meet(left, right);
  REQUIRE(done.pairs.size() == 3);
  CHECK(done.pairs[0].rule == "language model prefix");
  CHECK(done.pairs[1].candidate == 1);
  CHECK(done.pairs[2].rule == "model prefix");
}

TEST_CASE("names meet as they are, without wrappers, and without the model prefix") {
  const auto left = tensors({"a.weight", "module.b.weight", "model.layers.0.w"});
  const auto right = tensors({"layers.0.w", "b.weight", "a.weight"});
  const Alignment done = meet(left, right);
  REQUIRE(done.pairs.size() == 3);
  CHECK(done.pairs[0].rule == "same");
  CHECK(done.pairs[1].rule == "wrapper prefix");
  CHECK(done.pairs[2].rule == "model prefix");
  CHECK(done.pairs[2].candidate == 0);
  check_counts(done, 3, 3);
}

TEST_CASE("a name that two others could meet meets neither") {
  const auto left = tensors({"module.w", "_orig_mod.w"});
  const auto right = tensors({"w"});
  const Alignment done = meet(left, right);
  CHECK(done.pairs.empty());
  CHECK(done.only_reference.size() == 2);
  check_counts(done, 2, 1);
}

TEST_CASE("a parameter meets its fp32 master where that is all there is") {
  const auto left = tensors({"w"});
  const auto right = tensors({"w@master"});
  const Alignment done = meet(left, right);
  REQUIRE(done.pairs.size() == 1);
  CHECK(done.pairs[0].rule == "master-for-param");
}

TEST_CASE("a kind that one side lacks is excluded as a whole, a weight never") {
  const auto left = tensors({"w", "v", "w@exp_avg", "v@exp_avg"});
  const auto right = tensors({"w"});
  const Alignment done = meet(left, right);
  CHECK(done.pairs.size() == 1);
  CHECK(done.only_reference.size() == 1);
  REQUIRE(done.excluded_by.size() == 1);
  CHECK(done.excluded_by[0].first == "kind moment1: not in candidate");
  CHECK(done.excluded_by[0].second == 2);
  check_counts(done, 4, 1);
}

TEST_CASE("rotary frequencies that one writer alone stores are excluded, a lost one is a loss") {
  const auto left = tensors({"layers.0.attention.wq.weight", "rope.freqs"});
  const auto right = tensors({"layers.0.attention.wq.weight"});
  AlignOptions options;
  CHECK(meet(left, right, options).only_reference.size() == 1);
  options.other_writer = true;
  const Alignment done = meet(left, right, options);
  CHECK(done.only_reference.empty());
  check_counts(done, 2, 1);
  CHECK(meet(tensors({"a.rotary_emb.inv_freq", "b.rotary_emb.inv_freq"}),
             tensors({"a.rotary_emb.inv_freq"}), options)
            .only_reference.size() == 1);
}

TEST_CASE("include and exclude take names out by rule") {
  const auto left = tensors({"a.w", "b.w", "c.w"});
  const Alignment done = meet(left, left, {{"a.*", "b.*"}, {"b.*"}, {}, {}});
  CHECK(done.pairs.size() == 1);
  check_counts(done, 3, 3);
}

TEST_CASE("a user's map renames in whichever direction it fits") {
  const auto left = tensors({"model.layers.3.mlp.w"});
  const auto right = tensors({"decoder.blocks.3.ffn"});
  const MapRule map{"model.layers.{l}.mlp.w", "decoder.blocks.{l}.ffn", "same", 1};
  CHECK(meet(left, right, {{}, {}, {map}, {}}).pairs.size() == 1);
  CHECK(meet(right, left, {{}, {}, {map}, {}}).pairs.size() == 1);
  CHECK_THROWS_AS(meet(left, right, {{}, {}, {{"a", "b", "fold(2)", 7}}, {}}), Error);
}

TEST_CASE("trace records meet by identity, not by name alone") {
  Tensor first = tensor("m/output.0");
  first.identity.phase = Phase::forward;
  Tensor second = first;
  second.identity.microbatch = 1;
  const std::vector<Tensor> left = {first, second};
  const std::vector<Tensor> right = {second};
  const Alignment done = meet(left, right);
  REQUIRE(done.pairs.size() == 1);
  CHECK(done.pairs[0].reference == 1);
}

TEST_CASE("neighbours have equal shapes, and their map makes them meet") {
  const std::vector<Tensor> left = {tensor("model.layers.0.mlp.up.weight"),
                                    tensor("model.layers.1.mlp.up.weight"), tensor("x", {7})};
  const std::vector<Tensor> right = {tensor("decoder.layers.0.ffn.up.weight"),
                                     tensor("decoder.layers.1.ffn.up.weight"), tensor("y", {8})};
  const Alignment done = meet(left, right);
  CHECK(done.pairs.empty());
  const auto near = neighbours(left, right, done, 8);
  REQUIRE(near.size() == 2);
  CHECK(map_to_paste(left, right, near) ==
        "[[map]]\nreference = 'model.layers.{l}.mlp.up.weight'\n"
        "candidate = 'decoder.layers.{l}.ffn.up.weight'\nop = \"same\"\n");
}

TEST_CASE("no more neighbours than asked for, the nearest, each tensor once") {
  const auto left = tensors({"a.bbbb.c", "a.bbbx.c", "x.yyyy.z"});
  const auto right = tensors({"a.bbbd.c", "a.bbde.c", "q.rrrr.s"});
  Alignment alone;
  alone.only_reference = alone.only_candidate = {0, 1, 2};
  using Three = std::vector<std::pair<std::size_t, std::size_t>>;
  const Three all = {{0, 0}, {1, 1}, {2, 2}};
  for (const std::size_t most : {0U, 1U, 2U, 3U, 8U}) {
    Three found;
    for (const Neighbour& one : neighbours(left, right, alone, most)) {
      found.emplace_back(one.reference, one.candidate);
    }
    CHECK(found == Three(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(
                                                        std::min<std::size_t>(most, 3))));
  }
}

TEST_CASE("a map to paste reads its names as they are") {
  const auto left = tensors({"stats{'every': 1}.0.3", "a\\*#[b"});
  const auto right = tensors({"state{'every': 1}.3.0", "a\\*#[c"});
  const auto done = meet(left, right);
  const auto near = neighbours(left, right, done, 8);
  REQUIRE(near.size() == 2);
  CHECK(map_to_paste(left, right, near) ==
        "[[map]]\nreference = \"a\\\\\\\\\\\\*#[b\"\n"
        "candidate = \"a\\\\\\\\\\\\*#[c\"\nop = \"same\"\n"
        "[[map]]\nreference = \"stats\\\\{'every': 1\\\\}.0.3\"\n"
        "candidate = \"state\\\\{'every': 1\\\\}.3.0\"\nop = \"same\"\n");
}

TEST_CASE("model order: embedding, layers by number, final norm, head; weights before moments") {
  const std::vector<std::string> names = {"model.embed_tokens.weight",
                                          "model.layers.2.input_layernorm.weight",
                                          "model.layers.2.self_attn.q_proj.weight",
                                          "model.layers.2.mlp.down_proj.weight",
                                          "model.layers.10.input_layernorm.weight",
                                          "model.norm.weight",
                                          "mtp.layers.0.hnorm.weight",
                                          "lm_head.weight",
                                          "model.embed_tokens.weight@exp_avg"};
  for (std::size_t i = 1; i < names.size(); ++i) {
    CAPTURE(names[i]);
    CHECK(model_place({names[i - 1], Phase::none, 0, 0}, kind_of_name(names[i - 1])) <
          model_place({names[i], Phase::none, 0, 0}, kind_of_name(names[i])));
  }
}

TEST_CASE("the first thousand leftovers of each side are looked at") {
  const std::vector<Tensor> one = {tensor("w")};
  for (const std::size_t count : {1000U, 1001U}) {
    std::vector<Tensor> many(count, tensor("w", {7}));
    many.back() = tensor("w");
    Alignment done;
    done.only_reference = {0};
    for (std::size_t i = 0; i < count; ++i) done.only_candidate.push_back(i);
    CHECK(neighbours(one, many, done, 8).size() == (count == 1000 ? 1 : 0));
    std::swap(done.only_reference, done.only_candidate);
    CHECK(neighbours(many, one, done, 8).size() == (count == 1000 ? 1 : 0));
  }
}

TEST_CASE("names that take more than 100,000,000 steps are not compared") {
  const auto left = tensors({std::string(17, 'a')});
  const auto right = tensors({std::string(5'882'353, 'b')});  // 100,000,001 steps
  CHECK(neighbours(left, right, meet(left, right), 8).empty());
}

TEST_CASE("names too long to compare have no neighbour") {
  const auto left = tensors({std::string(200'000, 'a'), "layers.0.weight"});
  const auto right = tensors({std::string(200'000, 'b'), "layers.0.weights"});
  const auto done = meet(left, right);
  const auto near = neighbours(left, right, done, 8);
  REQUIRE(near.size() == 1);
  CHECK(near[0].reference == 1);
}

}  // namespace
}  // namespace ttcheck::align
