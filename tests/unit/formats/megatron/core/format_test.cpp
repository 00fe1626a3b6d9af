// SPDX-License-Identifier: Apache-2.0
// Megatron core's distributed checkpoints: keys, stacked axes, padding, flattened blocks, and a
// whole directory.

#include <doctest/doctest.h>

#include <algorithm>

#include "formats/megatron/core/chunk.hpp"
#include "formats/open.hpp"
#include "tests/support/dcp_writer.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/zip_writer.hpp"

namespace ttcheck::formats {
namespace {

DcpTensor tensor_of(std::string name, Shape size) {
  DcpTensor tensor;
  tensor.name = std::move(name);
  tensor.dtype = DType::f32;
  tensor.size = std::move(size);
  return tensor;
}

TEST_CASE("megatron-core: keys say the parameter, the kind of state and the stacked axes") {
  const MegatronKey layers = megatron_key("decoder.layers.mlp.linear_fc1.weight");
  CHECK(layers.stacked == 1);
  CHECK(layers.suffix.empty());
  CHECK(megatron_key("decoder.layers.7.mlp.linear_fc1.weight").stacked == 0);
  CHECK(megatron_key("decoder.layers.mlp.experts.experts.linear_fc1.weight").stacked == 2);
  CHECK(megatron_key("decoder.layers.1.mlp.experts.experts.linear_fc1.weight").stacked == 1);
  CHECK(megatron_key("optimizer.state.param.a.weight").suffix == "@master");
  CHECK(megatron_key("chained_0.optimizer.state.fp32_param.a.weight").name == "a.weight");
  CHECK(megatron_key("optimizer.state.exp_avg_sq.a.weight").suffix == "@exp_avg_sq");
  CHECK(megatron_key("output_layer.weight").vocabulary);
  CHECK_FALSE(megatron_key("embedding.position_embeddings.weight").vocabulary);
  CHECK_FALSE(megatron_key("optimizer.distributed.dp_group_idx_0.gbuf_idx_0.param").placed);
}

TEST_CASE("megatron-core: a chunk of stacked layers is an array a layer") {
  const DcpTensor tensor = tensor_of("decoder.layers.w", {4, 6, 2});
  const DcpChunk chunk{{2, 3, 0}, {2, 3, 2}, {}};
  const auto records = megatron_records(megatron_key(tensor.name), tensor, chunk, nullptr, 0);
  REQUIRE(records.size() == 2);
  CHECK(records[0].identity.name == "decoder.layers.2.w");
  CHECK(records[1].identity.name == "decoder.layers.3.w");
  CHECK(records[1].logical == Shape{6, 2});
  CHECK(records[1].box_lo == Extents{3, 0});
  CHECK(records[1].shape == Shape{3, 2});
  CHECK(records[1].piece.offset == 24);
}

TEST_CASE("megatron-core: experts are numbered behind their layer") {
  const DcpTensor tensor = tensor_of("decoder.layers.mlp.experts.experts.w", {2, 4, 3});
  const DcpChunk chunk{{1, 2, 0}, {1, 1, 3}, {}};
  const auto records = megatron_records(megatron_key(tensor.name), tensor, chunk, nullptr, 0);
  REQUIRE(records.size() == 1);
  CHECK(records[0].identity.name == "decoder.layers.1.mlp.experts.experts.2.w");
}

TEST_CASE("megatron-core: gate and up under keys of their own are one tensor") {
  const std::string stem = "optimizer.state.exp_avg.decoder.layers.1.mlp.experts.experts.3.";
  const DcpTensor tensor = tensor_of(stem + "linear_fc1.weight_v", {6, 2});
  const MegatronKey key = megatron_key(tensor.name);
  const auto records = megatron_records(key, tensor, {{3, 0}, {3, 2}, {}}, nullptr, 0);
  REQUIRE(records.size() == 1);
  CHECK(records[0].identity.name ==
        "decoder.layers.1.mlp.experts.experts.3.linear_fc1.weight@exp_avg");
  CHECK(records[0].logical == Shape{12, 2});
  CHECK(records[0].box_lo == Extents{9, 0});
  CHECK(records[0].shape == Shape{3, 2});
  const DcpTensor bias = tensor_of("decoder.layers.mlp.linear_fc1.bias_w", {4, 6});
  const auto layers =
      megatron_records(megatron_key(bias.name), bias, {{1, 0}, {1, 6}, {}}, nullptr, 0);
  REQUIRE(layers.size() == 1);
  CHECK(layers[0].identity.name == "decoder.layers.1.mlp.linear_fc1.bias");
  CHECK(layers[0].logical == Shape{12});
  CHECK(layers[0].box_lo == Extents{0});
  const DcpTensor scalar = tensor_of("mlp.linear_fc1.bias_w", {});
  CHECK_THROWS_AS(megatron_records(megatron_key(scalar.name), scalar, {}, nullptr, 0), Error);
}

TEST_CASE("megatron-core: rows past the vocabulary are left out") {
  const DcpTensor tensor = tensor_of("output_layer.weight", {8, 2});
  const MegatronKey key = megatron_key(tensor.name);
  const auto last = megatron_records(key, tensor, {{4, 0}, {4, 2}, {}}, nullptr, 5);
  REQUIRE(last.size() == 1);
  CHECK(last[0].logical == Shape{5, 2});
  CHECK(last[0].shape == Shape{1, 2});
  CHECK(megatron_records(key, tensor, {{6, 0}, {2, 2}, {}}, nullptr, 5).empty());
}

TEST_CASE("megatron-core: a flattened block is a range of its row-major order") {
  const DcpTensor tensor = tensor_of("optimizer.state.exp_avg.output_layer.weight", {2, 1, 8});
  const MegatronKey key = megatron_key(tensor.name);
  const Shape orig = {8, 2};
  const auto records = megatron_records(key, tensor, {{1, 0, 2}, {1, 1, 6}, {}}, &orig, 6);
  REQUIRE(records.size() == 1);
  CHECK(records[0].identity.name == "output_layer.weight@exp_avg");
  CHECK(records[0].box_lo == Extents{4, 0});
  REQUIRE(records[0].flat.has_value());
  CHECK(records[0].flat->block == Shape{2, 2});
  CHECK(records[0].flat->begin == 2);
  CHECK(records[0].shape == Shape{2});
  const Shape uneven = {7, 2};
  CHECK_THROWS_AS(megatron_records(key, tensor, {{1, 0, 2}, {1, 1, 6}, {}}, &uneven, 6), Error);
}

TEST_CASE("megatron-core: a directory; another back end is refused by name") {
  const tests::TempDir directory;
  const std::string item = tests::DcpWriter::chunk({1, 2}, {1, 2});
  const auto size = static_cast<std::int64_t>(item.size());
  tests::DcpWriter table;
  table.tensor(
      "decoder.layers.w", {2, 2},
      {{{0, 0}, {1, 2}, {"__0_0.distcp", 0, size}}, {{1, 0}, {1, 2}, {"__1_0.distcp", 0, size}}});
  table.tensor("optimizer.distributed.dp_group_idx_0.gbuf_idx_0.param", {2},
               {{{0}, {2}, {"__0_0.distcp", size, size}}});
  directory.write(".metadata", table.bytes());
  directory.write("__0_0.distcp", item + item);
  directory.write("__1_0.distcp", item);
  directory.write("metadata.json", R"({"sharded_backend":"torch_dist"})");
  Result<Run> run = open(directory.path());
  REQUIRE(run.has_value());
  CHECK(run->format == "megatron-core");
  const State state = run->open(0);
  REQUIRE(state.records.size() == 2);
  CHECK(state.records[1].identity.name == "decoder.layers.1.w");
  CHECK(state.unreadable == 1);
  CHECK(std::ranges::any_of(state.findings, [](const Finding& finding) {
    return finding.incomplete && finding.message.find("bucket") != std::string::npos;
  }));
  directory.write("metadata.json", R"({"sharded_backend":"array_record"})");
  CHECK_FALSE(open(directory.path()).has_value());
}

TEST_CASE("megatron-core: a save that ended before its last file is torn") {
  using namespace std::string_literals;
  tests::ZipWriter common;
  common.add("x/data.pkl", "\x80\x02}X\x09\x00\x00\x00iterationK\x02s."s);
  const tests::TempDir directory;
  directory.write("iter_0000002/common.pt", common.finish());
  const auto opened = [&] {
    Result<Run> run = open(directory.path() + "/iter_0000002");
    REQUIRE(run.has_value());
    CHECK(run->format == "megatron-core");
    return run->open(0);
  };
  const auto torn = [](const State& state) {
    const auto found = std::ranges::find(state.findings, Code::torn, &Finding::code);
    REQUIRE(found != state.findings.end());
    return found->incomplete;
  };
  const State alone = opened();
  CHECK(torn(alone));
  CHECK(alone.unreadable == 1);
  const std::string item = tests::DcpWriter::chunk({2, 2}, {1, 2, 3, 4});
  tests::DcpWriter table;
  table.tensor("decoder.layers.w", {2, 2},
               {{{0, 0}, {2, 2}, {"__0_0.distcp", 0, static_cast<std::int64_t>(item.size())}}});
  directory.write("iter_0000002/.metadata", table.bytes());
  directory.write("iter_0000002/__0_0.distcp", item);
  const State readable = opened();
  CHECK_FALSE(torn(readable));
  CHECK(readable.records.size() == 2);
}

TEST_CASE("megatron-core: a tensor too large to be one costs that tensor alone") {
  const tests::TempDir directory;
  const std::string item = tests::DcpWriter::chunk({2}, {1, 2});
  const auto size = static_cast<std::int64_t>(item.size());
  tests::DcpWriter table;
  table.tensor("huge", {std::int64_t{1} << 62}, {{{0}, {2}, {"__0_0.distcp", 0, size}}});
  table.tensor("w", {2}, {{{0}, {2}, {"__0_0.distcp", size, size}}});
  directory.write(".metadata", table.bytes());
  directory.write("__0_0.distcp", item + item);
  directory.write("metadata.json", R"({"sharded_backend":"torch_dist"})");
  Result<Run> run = open(directory.path());
  REQUIRE(run.has_value());
  const State state = run->open(0);
  REQUIRE(state.records.size() == 1);
  CHECK(state.records[0].identity.name == "w");
  CHECK(state.unreadable == 1);
  CHECK(std::ranges::count(state.findings, "huge", &Finding::tensor) == 1);
  CHECK(state.bytes_unclaimed == 0);  // the table names the bytes of what is refused, too
}

TEST_CASE("megatron-core: chunks give as many records as the files account for, all together") {
  constexpr std::int64_t kLayers = 40'000, kTensors = 20;
  const tests::TempDir directory;
  const std::string item = tests::DcpWriter::chunk({1}, {1});
  const auto size = static_cast<std::int64_t>(item.size());
  tests::DcpWriter table;
  std::string data;
  for (std::int64_t i = 0; i < kTensors; ++i) {  // without elements: no layer has any bytes
    table.tensor("decoder.layers.w" + std::to_string(i), {kLayers, 0},
                 {{{0, 0}, {kLayers, 0}, {"__0_0.distcp", i * size, size}}});
    data += item;
  }
  table.tensor("behind", {1}, {{{0}, {1}, {"__0_0.distcp", kTensors * size, size}}});
  directory.write(".metadata", table.bytes());
  directory.write("__0_0.distcp", data + item);
  directory.write("metadata.json", R"({"sharded_backend":"torch_dist"})");
  Result<Run> run = open(directory.path());
  REQUIRE(run.has_value());
  const State state = run->open(0);
  CHECK(state.records.size() >= static_cast<std::size_t>(kLayers));
  CHECK(state.records.size() < 200'000);
  const auto lost = std::ranges::count_if(state.findings, [](const Finding& finding) {
    return finding.message.starts_with("limit reached: chunks span") && finding.incomplete &&
           finding.where && finding.tensor.starts_with("decoder.layers.w");
  });
  CHECK(lost == state.unreadable);
  CHECK(lost + static_cast<std::int64_t>(state.records.size()) / kLayers == kTensors);
  CHECK(state.records.back().identity.name == "behind");
  CHECK(state.bytes_unclaimed == 0);
}

}  // namespace
}  // namespace ttcheck::formats
