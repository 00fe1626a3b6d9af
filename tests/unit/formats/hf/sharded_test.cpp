// SPDX-License-Identifier: Apache-2.0
// Safetensors files of ranks, by PyTorch's writers, through the door.

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <span>
#include <utility>

#include "core/assemble/assemble.hpp"
#include "core/model/gather.hpp"
#include "formats/open.hpp"
#include "tests/support/dcp_writer.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using tests::TempDir;

Run opened(const TempDir& directory) {
  Result<Run> run = open(directory.path());
  if (!run) throw run.error();
  return std::move(*run);
}

std::string shard_file(std::string_view offsets, std::string_view data) {
  const std::string info = "{\\\"w\\\": {\\\"saved_offsets\\\": [" + std::string(offsets) + "]}}";
  const std::string header = "{\"__metadata__\":{\"DCP_SHARDING_INFO\":\"" + info +
                             "\"},\"w\":{\"dtype\":\"F32\",\"shape\":[" +
                             std::to_string(data.size() / 4) + "],\"data_offsets\":[0," +
                             std::to_string(data.size()) + "]}}";
  return tests::safetensors_of(header, data);
}

TEST_CASE("dcp-hf: parts by their offsets; the consolidated copy is cut like them") {
  const TempDir directory;
  directory.write("sharded/shard-00001-model-00001-of-00001.safetensors",
                  shard_file("0", "aaaabbbb"));
  directory.write("sharded/shard-00002-model-00001-of-00001.safetensors", shard_file("2", "cccc"));
  directory.write(
      "model-00001-of-00001.safetensors",
      tests::safetensors_of(R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})",
                            "aaaabbbbcccd"));
  directory.write("model.safetensors.index.json",
                  R"({"weight_map":{"w":"model-00001-of-00001.safetensors"}})");
  const Run run = opened(directory);
  CHECK(run.format == "dcp-hf");
  const auto assembly = assemble::assemble(run.open(0), Mesh(), Numbers());
  REQUIRE(assembly.tensors.size() == 1);
  CHECK(assembly.findings.empty());
  CHECK(assembly.tensors[0].shape == Shape{3});
  CHECK(assembly.tensors[0].pieces.size() == 2);
  CHECK(assembly.tensors[0].replicas.size() == 2);
  std::array<std::byte, 12> whole{};
  gather(assembly.tensors[0], 0, 3, whole);
  CHECK(whole[11] == std::byte{'d'});
}

TEST_CASE("S20 dcp-hf: the index and what it lists are held against one another") {
  const TempDir directory;
  directory.write("sharded/shard-00001-model-00001-of-00001.safetensors", shard_file("0", "aaaa"));
  const std::string file = "model-00001-of-00001.safetensors";
  directory.write(file, tests::safetensors_of(
                            R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "aaaa"));
  directory.write("model.safetensors.index.json", R"({"weight_map":{"ghost":")" + file + "\"}}");
  const State state = opened(directory).open(0);
  std::string told;
  for (const Finding& finding : state.findings) {
    told +=
        finding.tensor + ": " + finding.message + (finding.incomplete ? "; incomplete\n" : "\n");
  }
  CHECK(told == "ghost: " + file + " is to hold this tensor, and does not; incomplete\n" +
                    "w: the index does not list this tensor\n");
}

TEST_CASE("H7 dcp-hf: a directory that is named as a shard is none") {
  const TempDir directory;
  std::filesystem::create_directories(
      directory.path("shard-00001-model-00001-of-00001.safetensors"));
  std::filesystem::create_directories(directory.path("sharded"));
  CHECK_FALSE(open(directory.path()).has_value());
}

TEST_CASE("dcp-hf: a rank between others without a file is missing") {
  const TempDir directory;
  directory.write("shard-00001-model-00001-of-00001.safetensors", shard_file("0", "aaaa"));
  directory.write("shard-00003-model-00001-of-00001.safetensors", shard_file("2", "cccc"));
  CHECK(opened(directory).open(0).missing_ranks == std::vector<std::int32_t>{1});
}

TEST_CASE("dcp: safetensors behind other values, where the table has one place for all of it") {
  const TempDir directory;
  const std::string value = tests::torch_archive(tests::pickled::integer(3));
  const auto begin = static_cast<std::int64_t>(value.size());
  tests::DcpWriter table;
  table.item("step", {"__0_0.distcp", 0, begin});
  table.tensor("w", {2}, {{{0}, {2}, {"__0_0.distcp", begin, 8}}});
  directory.write(".metadata", table.bytes());
  directory.write("__0_0.distcp", value + tests::small_safetensors("w"));
  const Run run = opened(directory);
  State state = run.open(0);
  CHECK(state.findings.empty());
  CHECK(state.bytes_unclaimed == 0);
  const auto assembly = assemble::assemble(std::move(state), Mesh(), Numbers());
  REQUIRE(assembly.tensors.size() == 1);
  std::array<float, 2> whole{};
  gather(assembly.tensors[0], 0, 2, std::as_writable_bytes(std::span(whole)));
  CHECK(whole == std::array{1.0F, 2.0F});
}

}  // namespace
}  // namespace ttcheck::formats
