// SPDX-License-Identifier: Apache-2.0
// Megatron core's buffers: what a group holds, in which order, and buckets cut into parameters.

#include "formats/megatron/core/optimizer_buffers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "tests/support/memory_source.hpp"

namespace ttcheck::formats {
namespace {

MegatronArgs args_of(std::int64_t layers, std::int64_t tp, std::int64_t pp) {
  MegatronArgs args;
  args.layers = layers;
  args.tp = tp;
  args.pp = pp;
  args.world = tp * pp;
  return args;
}

Record weight(const std::string& name, Shape logical, Extents lo, Shape shape) {
  Record record;
  record.identity.name = name;
  record.dtype = DType::f32;
  record.logical = std::move(logical);
  record.box_lo = std::move(lo);
  record.shape = std::move(shape);
  record.piece.dtype = DType::f32;
  return record;
}

MegatronWeights weights_of(const std::vector<std::string>& names) {
  MegatronWeights weights;
  for (const std::string& name : names) weights[name] = {weight(name, {4}, {0}, {4})};
  return weights;
}

std::vector<std::string> names_of(const std::vector<GroupParameter>& group) {
  std::vector<std::string> names;
  for (const GroupParameter& one : group) names.push_back(one.parameter.name);
  return names;
}

tests::MemorySource source_of(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return tests::MemorySource(std::move(bytes));
}

TEST_CASE("megatron-core groups: modules say the order of parameters") {
  const MegatronWeights weights = weights_of({
      "output_layer.weight",
      "decoder.final_layernorm.weight",
      "decoder.layers.0.mlp.linear_fc2.weight",
      "decoder.layers.0.mlp.linear_fc1.weight",
      "decoder.layers.0.self_attention.linear_qkv.layer_norm_weight",
      "decoder.layers.0.self_attention.linear_qkv.weight",
      "decoder.layers.0.self_attention.linear_proj.weight",
      "embedding.word_embeddings.weight",
  });
  const MegatronArgs args = args_of(1, 1, 1);
  const auto names = names_of(GroupParameters(weights, args).of(0, {}));
  REQUIRE(names.size() == 8);
  CHECK(names[0] == "embedding.word_embeddings.weight");
  CHECK(names[1] == "decoder.layers.0.self_attention.linear_qkv.layer_norm_weight");
  CHECK(names[2] == "decoder.layers.0.self_attention.linear_proj.weight");
  CHECK(names[4] == "decoder.layers.0.mlp.linear_fc1.weight");
  CHECK(names[7] == "output_layer.weight");
  const auto fused = names_of(GroupParameters(weights, args).of(0, {true, false}));
  CHECK(fused[1] == "decoder.layers.0.self_attention.linear_proj.weight");
  CHECK(fused[2] == "decoder.layers.0.self_attention.linear_qkv.layer_norm_weight");
}

TEST_CASE("megatron-core groups: stages, tied copies, shares of what is fused") {
  MegatronWeights weights = weights_of({"embedding.word_embeddings.weight",
                                        "decoder.layers.0.a.weight", "decoder.layers.1.a.weight"});
  const std::string fused = "decoder.layers.1.mlp.linear_fc1.weight";
  for (const std::int64_t lo : {6, 0, 2, 4}) {
    weights[fused].push_back(weight(fused, {8}, {lo}, {2}));
  }
  MegatronArgs args = args_of(2, 2, 2);
  args.untied = false;
  const auto first = names_of(GroupParameters(weights, args).of(1, {}));
  CHECK(first ==
        std::vector<std::string>{"embedding.word_embeddings.weight", "decoder.layers.0.a.weight"});
  const auto last = GroupParameters(weights, args).of(3, {});
  REQUIRE(last.size() == 3);
  CHECK(last[2].parameter.name == "embedding.word_embeddings.weight");
  CHECK(last[2].parameter.tied);
  REQUIRE(last[1].parts.size() == 2);
  CHECK(last[1].parts[0].box_lo == Extents{2});
  CHECK(last[1].parts[1].box_lo == Extents{6});
  CHECK(GroupParameters(weights, args).of(99, {}).empty());
}

TEST_CASE("megatron-core groups: latent attention, whose norms come last or are fused") {
  const std::string attention = "decoder.layers.0.self_attention.";
  const std::vector<std::string> names = {
      "decoder.layers.0.input_layernorm.weight",
      attention + "linear_proj.weight",
      attention + "linear_q_down_proj.weight",
      attention + "linear_q_up_proj.weight",
      attention + "linear_kv_down_proj.weight",
      attention + "linear_kv_up_proj.layer_norm_weight",
      attention + "linear_kv_up_proj.weight",
      attention + "q_layernorm.weight",
      "decoder.layers.0.pre_mlp_layernorm.weight",
  };
  const MegatronWeights weights = weights_of(names);
  const MegatronArgs args = args_of(1, 1, 1);
  for (const bool fused : {false, true}) {
    CHECK(names_of(GroupParameters(weights, args).of(0, {fused, false})) == names);
  }
}

TEST_CASE("megatron-core groups: layers that predict further tokens, and their embedding") {
  const std::string predicting = "mtp.layers.0.";
  const std::string layer = predicting + "transformer_layer.";
  const std::vector<std::string> block = {predicting + "enorm.weight",
                                          predicting + "hnorm.weight",
                                          predicting + "eh_proj.weight",
                                          layer + "self_attention.linear_proj.weight",
                                          layer + "self_attention.linear_qkv.weight",
                                          layer + "mlp.experts.experts.1.linear_fc1.weight",
                                          layer + "mlp.experts.experts.1.linear_fc2.weight",
                                          predicting + "final_layernorm.weight"};
  auto names = block;
  names.insert(names.end(), {"embedding.word_embeddings.weight", "decoder.layers.0.a.weight",
                             "decoder.layers.1.a.weight", "decoder.final_layernorm.weight",
                             "output_layer.weight"});
  const MegatronWeights weights = weights_of(names);
  MegatronArgs args = args_of(2, 1, 2);
  args.predicting = 1;
  args.experts = 2;
  auto last = block;
  last.insert(last.begin(), {"embedding.word_embeddings.weight", "decoder.layers.1.a.weight",
                             "decoder.final_layernorm.weight"});
  last.emplace_back("output_layer.weight");
  const auto group = GroupParameters(weights, args).of(1, {});
  CHECK(names_of(group) == last);
  CHECK(group.front().parameter.tied);
  CHECK_FALSE(group.back().parameter.tied);
  args.untied = false;
  CHECK(names_of(GroupParameters(weights, args).of(1, {})) == last);
  args.untied = true;
  args.pp = 3;
  args.world = 3;
  args.stage_layout = "Et*2|m|L";
  auto middle = block;
  middle.insert(middle.begin(), "embedding.word_embeddings.weight");
  CHECK(names_of(GroupParameters(weights, args).of(1, {})) == middle);
}

TEST_CASE("megatron-core groups: a long layout of stages is written out once, not by parameter") {
  std::vector<std::string> names;
  for (int i = 0; i < 20'000; ++i) names.push_back("mtp.layers.0.w" + std::to_string(i));
  const MegatronWeights weights = weights_of(names);
  MegatronArgs args = args_of(1, 1, 1);
  args.predicting = 1;
  args.stage_layout = "tL*1000000m";
  GroupParameters groups(weights, args);
  for (const bool fused : {false, true}) {
    CHECK(groups.of(0, {fused, false}).size() == names.size());
  }
}

TEST_CASE("megatron-core groups: experts by expert parallel rank, sequential or grouped") {
  std::vector<std::string> names;
  for (const char* number : {"0", "1", "2", "3"}) {
    const std::string expert = std::string("decoder.layers.0.mlp.experts.experts.") + number;
    names.push_back(expert + ".linear_fc1.weight");
    names.push_back(expert + ".linear_fc2.weight");
  }
  MegatronArgs args = args_of(1, 1, 1);
  args.experts = 4;
  args.ep = 2;
  args.world = 2;
  const MegatronWeights weights = weights_of(names);
  const auto own = names_of(GroupParameters(weights, args).of(1, {}));
  CHECK(own == std::vector<std::string>(names.begin() + 4, names.end()));
  const auto grouped = names_of(GroupParameters(weights, args).of(1, {false, true}));
  CHECK(grouped == std::vector<std::string>{names[4], names[6], names[5], names[7]});
}

TEST_CASE("megatron-core buckets: keys, and sizes that are known") {
  const auto key = bucket_key(
      "chained_0.optimizer.distributed.dp_group_idx_3.gbuf_idx_1.dtype_(torch.bfloat16, "
      "torch.float32).bucket_idx_2.exp_avg");
  REQUIRE(key.has_value());
  CHECK(key->group == 3);
  CHECK(key->bucket == 2);
  CHECK(key->dtype == DType::bf16);
  CHECK(key->kind == "exp_avg");
  CHECK_FALSE(bucket_key("optimizer.distributed.dp_group_idx_0.gbuf_idx_0.param").has_value());
  CHECK(gathered_group("optimizer.distributed.dp_group_idx_1.param_state/shard_0_1") == 1);
  CHECK_FALSE(gathered_group("optimizer.distributed.dp_group_idx_1.optimizer/shard_0_1"));
  const std::vector<std::int64_t> sizes = {128, 100};
  const auto layout = buffer_layout({10, 64, 70}, sizes);
  REQUIRE(layout.has_value());
  CHECK(layout->starts == std::vector<std::int64_t>{0, 64, 128});
  CHECK(layout->end == 198);
  CHECK_FALSE(buffer_layout({10, 64, 120}, sizes).has_value());
}

TEST_CASE("megatron-core buckets: chunks become ranges of parameters, if the copies agree") {
  std::vector<float> a(70), b(3), buffer(134, -1);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = 1 + static_cast<float>(i);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 200 + static_cast<float>(i);
  std::ranges::copy(b, buffer.begin());  // reversed order: b stands behind a in the model
  std::ranges::copy(a, buffer.begin() + 64);
  const tests::MemorySource a_bytes = source_of(a), b_bytes = source_of(b);
  const tests::MemorySource bytes = source_of(buffer);
  const std::string first = "decoder.layers.0.mlp.linear_fc1.weight";
  const std::string second = "decoder.layers.0.mlp.linear_fc2.weight";
  MegatronWeights weights;
  weights[first] = {weight(first, {7, 10}, {0, 0}, {7, 10})};
  weights[second] = {weight(second, {3}, {0}, {3})};
  weights[first][0].piece.source = &a_bytes;
  weights[second][0].piece.source = &b_bytes;
  Bucket bucket;
  bucket.key = {0, "buffer", DType::f32, 0, "param"};
  bucket.size = 134;
  for (const auto& [begin, end] : {std::pair(100, 134), std::pair(0, 100)}) {
    BucketChunk& chunk = bucket.chunks.emplace_back();
    chunk.begin = begin;
    chunk.count = end - begin;
    chunk.piece.source = &bytes;
    chunk.piece.dtype = DType::f32;
    chunk.piece.offset = static_cast<std::uint64_t>(begin) * 4;
  }
  const MegatronArgs args = args_of(1, 1, 1);
  State state;
  GroupParameters state_groups(weights, args);
  add_buckets({bucket}, state_groups, args, {}, state);
  CHECK(state.findings.empty());
  REQUIRE(state.records.size() == 3);
  const auto cut = std::ranges::find(
      state.records, 36, [](const Record& one) { return one.flat ? one.flat->begin : 0; });
  REQUIRE(cut != state.records.end());
  CHECK(cut->identity.name == first + "@master");
  CHECK(cut->shape == Shape{34});
  CHECK(cut->logical == Shape{7, 10});
  CHECK(cut->flat->block == Shape{7, 10});
  CHECK(cut->piece.offset == 400);

  bucket.chunks.erase(bucket.chunks.begin());  // a rank's file is gone: what is left is placed
  State torn;
  GroupParameters torn_groups(weights, args);
  add_buckets({bucket}, torn_groups, args, {}, torn);
  CHECK(torn.records.size() == 2);

  Bucket endless = bucket;
  endless.chunks[0].begin = std::numeric_limits<std::int64_t>::max();
  State hostile;
  GroupParameters hostile_groups(weights, args);
  add_buckets({endless}, hostile_groups, args, {}, hostile);
  CHECK(hostile.records.empty());
  CHECK(hostile.findings.size() == 1);

  const tests::MemorySource other = source_of(std::vector<float>(134, 5));
  for (BucketChunk& chunk : bucket.chunks) chunk.piece.source = &other;
  State refused;
  GroupParameters refused_groups(weights, args);
  add_buckets({bucket}, refused_groups, args, {}, refused);
  CHECK(refused.records.empty());
  CHECK(refused.unreadable == 1);
  REQUIRE(refused.findings.size() == 1);
  CHECK(refused.findings[0].incomplete);
}

}  // namespace
}  // namespace ttcheck::formats
