// SPDX-License-Identifier: Apache-2.0
// zarr version 2: the table, the grid, padding at the edge, and chunks that are not there.

#include "formats/arrays/zarr_array.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include "formats/open.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

std::string table(std::string_view shape, std::string_view chunks, std::string_view dtype = "<f4",
                  std::string_view more = "") {
  return fmt::format(R"({{"zarr_format":2,"shape":{},"chunks":{},"dtype":"{}","order":"C",)"
                     R"("compressor":null,"filters":null,"fill_value":null{}}})",
                     shape, chunks, dtype, more);
}

TEST_CASE("zarr: chunks are boxes of the array, cut at its edge") {
  const tests::TempDir directory;
  directory.write("a/.zarray", table("[3,5]", "[2,3]"));
  for (const char* name : {"a/0.0", "a/0.1", "a/1.0", "a/1.1"}) {
    directory.write(name, std::string(24, 'x'));
  }
  directory.write("a/01.0", "x");
  directory.write("a/2.0", "xy");
  const Root root(directory.path(), false);
  const ZarrArray array = read_zarr_array(root, "a");
  CHECK(array.dtype == DType::f32);
  CHECK(array.findings.empty());
  REQUIRE(array.chunks.size() == 4);
  CHECK(array.chunks[3].lo == Extents{2, 3});
  CHECK(array.chunks[3].shape == Shape{1, 2});
  CHECK(array.rest.size() == 2);
  CHECK(array.rest_bytes == 3);
}

TEST_CASE("zarr: a chunk that is not there, or is short, is no zeros") {
  const tests::TempDir directory;
  directory.write("a/.zarray", table("[4]", "[2]", "bfloat16"));
  directory.write("a/1", "wxyz");
  const Root root(directory.path(), false);
  const ZarrArray array = read_zarr_array(root, "a");
  CHECK(array.dtype == DType::bf16);
  REQUIRE(array.chunks.size() == 1);
  CHECK(array.chunks[0].lo == Extents{2});
  REQUIRE(array.findings.size() == 1);
  CHECK(array.findings[0].code == Code::torn);
  CHECK(array.findings[0].incomplete);
  directory.write("b/.zarray", table("[4]", "[2]", "|V2"));
  directory.write("b/0", "wxy");
  directory.write("b/1", "wxyz");
  const ZarrArray torn = read_zarr_array(root, "b");
  CHECK(torn.chunks.size() == 1);
  REQUIRE(torn.findings.size() == 1);
  CHECK(torn.findings[0].code == Code::unreadable);
}

TEST_CASE("zarr: an index with a sign is none, and stands in for no chunk") {
  const tests::TempDir directory;
  directory.write("a/.zarray", table("[4]", "[2]"));
  directory.write("a/0", std::string(8, 'x'));
  directory.write("a/-0", std::string(8, 'y'));
  const Root root(directory.path(), false);
  const ZarrArray array = read_zarr_array(root, "a");
  REQUIRE(array.chunks.size() == 1);
  CHECK(array.rest == std::vector<std::string>{"a/-0"});
  REQUIRE(array.findings.size() == 1);
  CHECK(array.findings[0].message.starts_with("1 of 2 chunks"));
}

TEST_CASE("zarr: what is stored in another way is refused, not guessed") {
  const tests::TempDir directory;
  const Root root(directory.path(), false);
  int number = 0;
  const auto refused = [&](const std::string& text) {
    const std::string name = fmt::format("t{}", number++);
    directory.write(name + "/.zarray", text);
    try {
      read_zarr_array(root, name);
      return false;
    } catch (const Error&) {
      return true;
    }
  };
  CHECK(refused(table("[4]", "[0]")));
  CHECK(refused(table("[4,4]", "[2]")));
  CHECK(refused(table("[-4]", "[2]")));
  CHECK(refused(table("[4]", "[2]", "|O")));
  CHECK(refused(table("[4611686018427387904,4]", "[4611686018427387904,4]")));
  CHECK(refused(table("[4611686018427387904,4]", "[1,1]")));
  CHECK(refused(table("[4611686018427387904]", "[1]")));
  CHECK(refused(R"({"zarr_format":3})"));
  std::string packed = table("[4]", "[2]");
  packed.replace(packed.find("\"compressor\":null"), 17, "\"compressor\":{\"id\":\"zlib\"}");
  CHECK(refused(packed));
  CHECK_FALSE(refused(table("[4]", "[2]", ">i8", R"(,"dimension_separator":"/")")));
}

TEST_CASE("megatron-core: a zarr back end's layers, padding, objects and holes") {
  const tests::TempDir directory;
  directory.write("metadata.json", R"({"sharded_backend":"zarr"})");
  directory.write("decoder.layers.w/.zarray", table("[2,3]", "[1,2]"));
  for (const char* name : {"0.0", "0.1", "1.1"}) {
    directory.write(fmt::format("decoder.layers.w/{}", name), std::string(8, 'x'));
  }
  directory.write("decoder.layers.w._extra_state/shard_0_2.pt", "any");
  directory.write("other/file", "left");
  Result<Run> run = open(directory.path());
  REQUIRE(run.has_value());
  const State state = run->open(0);
  REQUIRE(state.records.size() == 3);
  CHECK(state.records[1].identity.name == "decoder.layers.0.w");
  CHECK(state.records[1].box_lo == Extents{2});
  CHECK(state.records[1].shape == Shape{1});
  REQUIRE(state.records[1].piece.cells.size() == 1);
  CHECK(state.records[2].identity.name == "decoder.layers.1.w");
  CHECK(find_fact(state.facts, "decoder.layers.w._extra_state/shard_0_2") != nullptr);
  CHECK(state.bytes_unclaimed == 4);
  bool torn = false;
  for (const Finding& finding : state.findings) torn = torn || finding.code == Code::torn;
  CHECK(torn);
}

TEST_CASE("megatron-core: an array too large to be one costs that array alone") {
  const tests::TempDir directory;
  directory.write("metadata.json", R"({"sharded_backend":"zarr"})");
  directory.write("huge/.zarray", table("[4611686018427387904]", "[2]"));
  directory.write("huge/0", std::string(8, 'x'));
  directory.write("w/.zarray", table("[2]", "[2]"));
  directory.write("w/0", std::string(8, 'x'));
  Result<Run> run = open(directory.path());
  REQUIRE(run.has_value());
  const State state = run->open(0);
  CHECK(state.records.size() == 1);
  CHECK(state.unreadable == 1);
  REQUIRE(state.findings.size() == 1);
  CHECK(state.findings[0].tensor == "huge");
  REQUIRE(state.findings[0].where);
  CHECK(state.findings[0].where->file.ends_with("huge/.zarray"));
}

}  // namespace
}  // namespace ttcheck::formats
