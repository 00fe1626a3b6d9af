// SPDX-License-Identifier: Apache-2.0
#include "core/explain/arrangement.hpp"

#include <doctest/doctest.h>

#include "core/explain/layer_part.hpp"
#include "core/explain/orders.hpp"

namespace ttcheck::explain {
namespace {

std::string name_for(std::vector<std::int64_t> from, std::string tensor, Numbers numbers = {},
                     std::size_t dim = 0) {
  return arrangement_of({std::move(from), std::move(tensor), &numbers, dim}).name;
}

/// An order of blocks as one of slices.
std::vector<std::int64_t> slices(const std::vector<std::int64_t>& blocks, std::int64_t block) {
  std::vector<std::int64_t> from;
  for (const std::int64_t one : blocks) {
    for (std::int64_t i = 0; i < block; ++i) from.push_back(one * block + i);
  }
  return from;
}

TEST_CASE("what a tensor is goes by the innermost part of its name that tells") {
  using enum LayerPart;
  const std::pair<const char*, LayerPart> rows[] = {
      {"decoder.layers.0.self_attention.linear_q_up_proj.weight", rotary},
      {"decoder.layers.0.self_attention.linear_kv_down_proj.weight", rotary},
      {"decoder.layers.0.self_attention.linear_kv_up_proj.weight", key_value},
      {"decoder.layers.0.self_attention.linear_qkv.layer_norm_weight", plain},
      {"decoder.layers.0.self_attention.linear_proj.weight", heads},
      {"language_model.encoder.layers.0.self_attention.dense.weight", heads},
      {"h.0.mlp.c_proj.weight", plain},
      {"h.0.attn.c_attn.weight", rotary},
      {"decoder.layers.1.mlp.experts.local_experts.2.linear_fc1.weight", gated},
      {"decoder.layers.1.mlp.shared_experts.linear_fc1.weight", gated},
      {"model.layers.0.self_attn.q_b_proj.weight", rotary},
      {"model.layers.0.self_attn.kv_a_proj_with_mqa.weight", rotary},
      {"model.layers.0.self_attn.kv_a_layernorm.weight", plain},
      {"model.layers.0.self_attn.kv_b_proj.weight", key_value},
      {"model.layers.0.self_attn.q_norm.weight", rotary},
      {"layers.0.attention.wk.weight", rotary},
      {"layers.0.attention.wv.weight", heads},
      {"layers.0.mixer.wq.weight", rotary},
      {"layers.0.mixer.wk.weight", rotary},
      {"layers.0.mixer.wv.weight", heads},
      {"layers.0.mixer.wo.weight", heads},
      {"layers.0.mixer.value.weight", heads},
      {"layers.0.mixer.values.weight", unknown},
      {"layers.0.feed_forward.w1.weight", gated},
      {"layers.0.feed_forward.w2.weight", plain},
      {"layers.0.mlp/output.0", gated},
      {"positions", unknown}};
  for (const auto& [name, part] : rows) {
    CAPTURE(name);
    CHECK(layer_part_of(name) == part);
  }
}

TEST_CASE("experts are those of a stack or a router, and move whole") {
  const std::string megatron = "decoder.layers.1.mlp.experts.";
  for (const char* name : {"local_experts.2.linear_fc1.weight", "experts.2.linear_fc1.weight",
                           "linear_fc1.weight2", "linear_fc1.bias2"}) {
    CAPTURE(name);
    CHECK(name_for({2, 3, 0, 1}, megatron + name) == "glu-halves");
  }
  for (const char* name : {"linear_fc2.weight2", "linear_fc2.bias2"}) {
    CHECK(name_for({2, 3, 0, 1}, megatron + name) == "shift");
  }
  CHECK(name_for({2, 3, 0, 1}, "decoder.layers.1.mlp.shared_experts.linear_fc1.weight") ==
        "glu-halves");
  CHECK(name_for({2, 3, 0, 1}, megatron + "experts.linear_fc1.weight") == "experts");
  CHECK(name_for({1, 0, 2, 3}, megatron + "router.weight", {{"experts", 4}}) == "experts");
  CHECK(name_for({1, 0, 2, 3}, "model.layers.1.mlp.gate.e_score_correction_bias") != "experts");
  // [experts x f, h]: a part of an expert is none.
  const std::string grouped = megatron + "weight2";
  CHECK(name_for({2, 3, 0, 1}, grouped, {{"experts", 2}}) == "experts");
  CHECK(name_for({1, 0, 2, 3}, grouped, {{"experts", 2}}) != "experts");
  CHECK(name_for({2, 3, 0, 1}, grouped, {{"experts", 1}}) != "experts");
  CHECK(name_for({2, 3, 0, 1}, grouped, {{"experts", 2}}, 1) != "experts");
  CHECK(name_for({2, 3, 0, 1}, grouped, {{"experts", 3}}) == "experts");  // of no stack of three
  CHECK(name_for({1, 0, 2, 3, 4, 5, 6, 7}, grouped, {{"experts", 3}}) == "experts");
  CHECK(arrangement_of({{2, 3, 0, 1}, grouped, nullptr, 0}).name == "experts");
}

TEST_CASE("rotary rows lie at an end of each head of latent attention") {
  // Heads of 6: 2 rows that do not rotate, 4 that do.
  const std::vector<std::int64_t> pairs = {0, 1, 2, 4, 3, 5, 6, 7, 8, 10, 9, 11};
  const std::vector<std::int64_t> swapped = {0, 1, 4, 5, 2, 3, 6, 7, 10, 11, 8, 9};
  for (const char* name : {"model.layers.0.self_attn.q_b_proj.weight",
                           "decoder.layers.0.self_attention.linear_q_up_proj.weight",
                           "decoder.layers.0.self_attention.linear_q_proj.weight"}) {
    CAPTURE(name);
    CHECK(name_for(pairs, name) == "rope-halves");
    CHECK(name_for(pairs, name, {{"heads", 2}, {"head_dim", 4}}) == "rope-halves");
    CHECK(name_for(swapped, name, {{"heads", 2}, {"head_dim", 4}}) == "rope-halves");
  }
  // 4 rows of the latent, then the key's 4.
  for (const char* name : {"model.layers.0.self_attn.kv_a_proj_with_mqa.weight",
                           "decoder.layers.0.self_attention.linear_kv_down_proj.weight"}) {
    CAPTURE(name);
    CHECK(name_for({0, 1, 2, 3, 4, 6, 5, 7}, name) == "rope-halves");
    CHECK(name_for({0, 1, 2, 3, 6, 7, 4, 5}, name) == "rope-halves");
    CHECK(name_for({1, 0, 2, 3, 4, 5, 7, 6}, name) == "permutation");
  }
  // A partial rotary embedding rotates the start of each head.
  CHECK(name_for({0, 2, 1, 3, 4, 5, 6, 8, 7, 9, 10, 11}, "self_attn.k_proj.weight") ==
        "rope-halves");
  // Halves of heads that are blocks by themselves, where heads are known.
  CHECK(name_for({1, 0, 3, 2}, "self_attn.q_proj.weight", {{"head_dim", 2}}) == "rope-halves");
  CHECK(name_for({1, 0, 3, 2}, "self_attn.q_proj.weight", {{"head_dim", 1}, {"heads", 2}}) ==
        "rope-halves");
  CHECK(name_for({2, 3, 0, 1, 6, 7, 4, 5}, "self_attn.q_proj.weight", {{"head_dim", 2}}) ==
        "heads");
  CHECK(name_for(slices({0, 2, 1, 3, 4, 6, 5, 7}, 2), "self_attn.q_proj.weight",
                 {{"head_dim", 2}}) == "heads");
  CHECK(name_for({1, 0, 3, 2, 5, 4, 7, 6}, "self_attn.q_proj.weight", {{"heads", 3}}) ==
        "permutation");  // three do not divide eight
  CHECK(name_for({2, 3, 0, 1}, "self_attn.q_proj.weight", {{"head_dim", 5}}) == "shift");
  CHECK(name_for({0, 2, 1, 3, 4, 6, 5, 7}, "self_attn.v_proj.weight", {{"head_dim", 4}}) ==
        "permutation");
}

TEST_CASE("queries, values and outputs: whole heads, where they are known or blocks may be them") {
  const std::vector<std::int64_t> pairs_moved = slices({1, 0, 2, 4, 3}, 2);
  CHECK(name_for(pairs_moved, "attn.o_proj.weight") == "heads");
  CHECK(name_for(pairs_moved, "attn.o_proj.weight", {{"head_dim", 3}}) == "permutation");
  CHECK(name_for({1, 0, 2, 4, 3}, "attn.o_proj.weight") == "permutation");  // single rows
  CHECK(name_for({2, 3, 4, 5, 0, 1}, "attn.v_proj.weight", {{"head_dim", 2}}) == "shift");
  CHECK(name_for({0, 2, 4, 1, 3, 5}, "attn.k_proj.weight") == "strided-chunks");  // has no values
  CHECK(name_for({0, 2, 4, 1, 3, 5}, "attn.qkv.weight") == "qkv-interleave");
}

TEST_CASE("keys and values in one, of heads that are known: whole ones, or swapped within some") {
  const std::string name = "model.layers.0.self_attn.kv_b_proj.weight";
  const auto moved = slices({0, 2, 1, 3, 4}, 2);
  CHECK(name_for(moved, name, {{"heads", 5}}) == "heads");
  CHECK(name_for(moved, name, {{"heads", 4}}) == "permutation");  // which do not divide ten rows
  CHECK(name_for(moved, name) == "permutation");
  CHECK(name_for({1, 0, 2, 3, 4, 5, 6, 7, 9, 8}, name, {{"heads", 2}}) == "permutation");
  // Of heads of five rows blocks of two are no parts.
  CHECK(name_for(slices({1, 0, 2, 3, 5, 4, 6, 7, 8, 9}, 2), name, {{"heads", 4}}) == "permutation");
}

TEST_CASE("keys and values in one: swapped within heads, or all of a kind together") {
  for (const char* name : {"model.layers.0.self_attn.kv_b_proj.weight",
                           "decoder.layers.0.self_attention.linear_kv_up_proj.weight",
                           "decoder.layers.0.cross_attention.linear_kv.weight"}) {
    CAPTURE(name);
    CHECK(name_for({1, 0, 3, 2, 5, 4}, name) == "heads");
    CHECK(name_for({3, 4, 0, 1, 2, 8, 9, 5, 6, 7}, name) == "heads");  // 3 rows of k, 2 of v
    CHECK(name_for({0, 1, 2, 3, 4, 8, 9, 5, 6, 7}, name, {{"heads", 2}}) == "heads");
    CHECK(name_for({1, 0}, name) == "heads");
    CHECK(name_for({0, 2, 4, 1, 3, 5}, name) == "qkv-interleave");
    CHECK(name_for({0, 3, 1, 4, 2, 5}, name) == "qkv-interleave");
    CHECK(name_for({0, 1, 2, 5, 6, 7, 3, 4, 8, 9}, name) == "qkv-interleave");
    CHECK(name_for({0, 1, 2, 6, 7, 3, 4, 5, 8, 9}, name) == "qkv-interleave");
    CHECK(name_for({0, 4, 2, 1, 3, 5, 6}, name) == "permutation");
  }
}

TEST_CASE("gate and up keep their places, whatever cuts them") {
  const std::string name = "mlp.linear_fc1.weight";
  CHECK(name_for({1, 0}, name) == "glu-halves");
  CHECK(name_for({0, 2, 1, 3}, name) == "glu-halves");        // of two ranks against whole
  CHECK(name_for({2, 0, 3, 1}, name) == "glu-halves");        // and swapped
  CHECK(name_for({0, 3, 2, 1}, name) == "glu-halves");        // on one rank
  CHECK(name_for({1, 0, 3, 2, 5, 4}, name) == "glu-halves");  // row by row, as gpt-oss
  CHECK(name_for({0, 1, 4, 5, 2, 3, 6, 7}, name) == "glu-halves");
  CHECK(name_for({1, 2, 3, 0}, name) == "shift");
  CHECK(name_for({3, 0, 1, 2, 5, 4}, name) == "permutation");
}

TEST_CASE("a shift is named by its shorter way, an order of up to 64 blocks is listed") {
  const auto rolled = [](std::int64_t n, std::int64_t by) {
    std::vector<std::int64_t> from;
    for (std::int64_t i = 0; i < n; ++i) from.push_back((i + by) % n);
    return arrangement_of({std::move(from), "embedding.weight", nullptr, 0});
  };
  struct Row {
    std::int64_t n, by, shift, block;
    std::size_t listed;
  };
  for (const Row& row : {Row{5, 1, 1, 1, 5},
                         {5, 2, 2, 1, 5},
                         {5, 3, -2, 1, 5},
                         {6, 3, 3, 3, 2},
                         {8, 6, -2, 2, 4},
                         {64, 1, 1, 1, 64},
                         {65, 1, 1, 1, 0}}) {
    CAPTURE(row.n);
    CAPTURE(row.by);
    const Arrangement found = rolled(row.n, row.by);
    CHECK(found.name == "shift");
    CHECK(found.shift == row.shift);
    CHECK(found.block == row.block);
    CHECK(found.order.size() == row.listed);
  }
}

TEST_CASE("where the name says nothing, what an order looks like") {
  const std::string name = "w";
  CHECK(name_for({0, 2, 4, 1, 3, 5}, name, {{"head_dim", 6}}) == "rope-halves");
  CHECK(name_for({0, 1, 4, 6, 2, 3, 5, 7}, name) == "qkv-interleave");
  CHECK(name_for({0, 7, 1, 6, 2, 5, 3, 4}, name) == "zigzag");
  CHECK(name_for({0, 4, 1, 5, 2, 6, 3, 7}, name) == "glu-halves");
  CHECK(name_for({1, 0}, name) == "glu-halves");
  CHECK(name_for({1, 2, 0}, name) == "shift");
  CHECK(name_for({2, 1, 0}, name) == "permutation");
  CHECK(name_for({0, 7, 1, 6, 2, 5, 3, 4}, "mlp.down_proj.weight") == "zigzag");
  CHECK(name_for({0, 3, 6, 1, 4, 7, 2, 5, 8}, "mlp.down_proj.weight") == "strided-chunks");
}

TEST_CASE("what is neither gated nor attention has no halves") {
  CHECK(name_for({1, 0}, "embedding.word_embeddings.weight") == "shift");
  CHECK(name_for({1, 0}, "model.layers.0.mlp.down_proj.weight", {}, 1) == "shift");
  CHECK(name_for({1, 0}, "w") == "glu-halves");
}

}  // namespace
}  // namespace ttcheck::explain
