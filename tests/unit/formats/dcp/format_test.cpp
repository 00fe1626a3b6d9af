// SPDX-License-Identifier: Apache-2.0
// Distributed checkpoints through the door: tables, items, names, and what is wrong with them.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/assemble/assemble.hpp"
#include "formats/dcp/items.hpp"
#include "formats/dcp/names.hpp"
#include "formats/open.hpp"
#include "tests/support/memory_source.hpp"
#include "tests/support/opened_dcp.hpp"
#include "tests/support/safetensors_text.hpp"

namespace ttcheck::formats {
namespace {

using tests::DcpWriter;
using tests::kBottom;
using tests::kTop;
using tests::size_of;
using tests::TempDir;
using tests::TwoRanks;
using Opened = tests::OpenedDcp;
namespace pickled = tests::pickled;

std::vector<float> values_of(const Record& record) {
  std::vector<float> values(static_cast<std::size_t>(element_count(record.shape)));
  record.piece.source->read(record.piece.offset, std::as_writable_bytes(std::span(values)));
  return values;
}

TEST_CASE("dcp: chunks are pieces in their places, with the rank that wrote them") {
  const TempDir directory;
  TwoRanks().write(directory);
  const Opened opened(directory);
  CHECK(opened.run.format == "dcp");
  CHECK(opened.state.findings.empty());
  CHECK(opened.state.bytes_unclaimed == 0);
  REQUIRE(opened.state.records.size() == 2);
  const Record& last = opened.state.records[1];
  CHECK(last.identity.name == "w");
  CHECK(last.logical == Shape{3, 2});
  CHECK(last.box_lo == Extents{2, 0});
  CHECK(last.piece.rank == 1);
  CHECK(values_of(opened.state.records[0]) == kTop);
  CHECK(values_of(last) == kBottom);
  REQUIRE(last.piece.where().offset.has_value());
  CHECK(last.piece.where().file.ends_with("__1_0.distcp"));
}

TEST_CASE("dcp: an item with other strides is read row-major") {
  const TempDir directory;
  pickled::Tensor turned;
  turned.stride = {1, 2};
  const std::string item = tests::torch_archive(pickled::tensor(turned));
  DcpWriter table;
  table.tensor("w", {2, 2}, {{{0, 0}, {2, 2}, {"__0_0.distcp", 0, size_of(item)}}});
  directory.write(".metadata", table.bytes());
  directory.write("__0_0.distcp", item);
  const Opened opened(directory);
  std::array<std::byte, 16> bytes{};
  opened.state.records.at(0).piece.source->read(0, bytes);
  CHECK(bytes[4] == std::byte{8});
  std::array<std::byte, 3> few{};
  opened.state.records.at(0).piece.source->read(7, few);
  CHECK(few[0] == std::byte{11});
  CHECK(few[1] == std::byte{4});
}

TEST_CASE("dcp: empty chunks of uneven shards are no tensors, and are claimed") {
  const TempDir directory;
  const std::string item = DcpWriter::chunk({1}, {1});
  const std::string empty = DcpWriter::chunk({0}, {});
  DcpWriter table;
  table.tensor("w", {1},
               {{{0}, {1}, {"__0_0.distcp", 0, size_of(item)}},
                {{1}, {0}, {"__1_0.distcp", 0, size_of(empty)}}});
  directory.write(".metadata", table.bytes());
  directory.write("__0_0.distcp", item);
  directory.write("__1_0.distcp", empty);
  const Opened opened(directory);
  CHECK(opened.state.records.size() == 1);
  CHECK(opened.state.findings.empty());
}

TEST_CASE(
    "dcp: paths tell names with dots from containers, optimizer state goes to its parameter") {
  DcpWriter table;
  table.tensor("model.a.b", {2}, {});
  table.tensor("optim.state.a.b.exp_avg", {2}, {});
  table.tensor("model.x", {2}, {});
  table.item("optim.param_groups.0.lr", {});
  table.item("extra.note", {});
  table.path("model.a.b", {"model", "a.b"});
  table.path("model.x", {"model.x"});
  table.path("optim.state.a.b.exp_avg", {"optim", "state", "a.b", "exp_avg"});
  const tests::MemorySource source(tests::to_bytes(table.bytes()));
  const DcpMetadata metadata = read_dcp_metadata(source);
  const DcpNames names({&metadata});
  CHECK(names.tensor("model.a.b") == "a.b");
  CHECK(names.tensor("model.x") == "model.x");
  CHECK(names.tensor("optim.state.a.b.exp_avg") == "a.b@exp_avg");
  CHECK(names.key("optim.param_groups.0.lr").field == "lr");
  CHECK(names.key("extra.note").name == "extra.note");
}

TEST_CASE("dcp: numbers of an optimizer get names by order and shape") {
  DcpWriter table;
  table.tensor("a", {3}, {});
  table.tensor("b", {2, 2}, {});
  table.tensor("optim.state.0.exp_avg", {2, 2}, {});
  table.tensor("optim.state.1.exp_avg", {3}, {});
  const tests::MemorySource source(tests::to_bytes(table.bytes()));
  const DcpMetadata metadata = read_dcp_metadata(source);
  DcpNames names({&metadata});
  std::vector<Finding> findings;
  names.name_numbers("optim", {{"0"}, {"1"}}, findings);
  CHECK(findings.empty());
  CHECK(names.tensor("optim.state.0.exp_avg") == "b@exp_avg");
  CHECK(names.tensor("optim.state.1.exp_avg") == "a@exp_avg");
}

TEST_CASE("DC01: a table with a payload is read, and the payload is named") {
  const TempDir directory;
  const TwoRanks two;
  two.write(directory);
  directory.write(".metadata",
                  two.table.bytes(pickled::call("os", "system", {pickled::text("true")}) + "0"));
  const Opened opened(directory);
  CHECK(opened.says(Code::unsafe_pickle, "os.system"));
  CHECK(opened.state.records.size() == 2);
}

TEST_CASE("DC02: paths out of the directory are not opened") {
  for (const char* path : {"../__1_0.distcp", "/etc/passwd", "a/../../b", "x\ny"}) {
    const TempDir directory;
    TwoRanks two;
    two.table.tensor("model.v", {1}, {{{0}, {1}, {path, 0, 4}}});
    two.write(directory);
    const Opened opened(directory);
    INFO(path);
    CHECK(opened.state.records.size() == 2);
    CHECK(opened.state.unreadable == 1);
    CHECK(std::ranges::any_of(opened.state.findings, [](const Finding& finding) {
      return finding.tensor == "v" || finding.tensor == "model.v";
    }));
  }
}

TEST_CASE("DC03: places beyond the file, empty, negative and shared are said") {
  for (const auto& [offset, length] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1 << 20}, {INT64_MAX, INT64_MAX}, {0, 0}, {-1, 8}}) {
    const TempDir directory;
    TwoRanks two;
    two.table.tensor("model.v", {1}, {{{0}, {1}, {"__0_0.distcp", offset, length}}});
    two.write(directory);
    const Opened opened(directory);
    INFO(offset);
    CHECK(opened.state.records.size() == 2);
    CHECK(opened.state.unreadable >= 1);
  }
  const TempDir directory;
  TwoRanks two;
  two.table.tensor("model.v", {2, 2}, {{{0, 0}, {2, 2}, {"__0_0.distcp", 0, size_of(two.top)}}});
  two.write(directory);
  CHECK(Opened(directory).says(Code::overlap, "share bytes"));
}

TEST_CASE("S10 tensors on the same bytes are read as long as they claim the file twice at most") {
  const TempDir directory;
  TwoRanks two;
  for (int i = 0; i < 20; ++i) {
    two.table.tensor(fmt::format("same.{}", i), {2, 2},
                     {{{0, 0}, {2, 2}, {"__0_0.distcp", 0, size_of(two.top)}}});
  }
  two.write(directory);
  const Opened opened(directory);
  CHECK(opened.state.records.size() < 10);
  CHECK(opened.says(Code::unreadable, "claim more than 2 times the file"));
}

TEST_CASE("S13 a data file that is opened by itself is several archives, of which one is read") {
  const TempDir directory;
  TwoRanks two;
  two.top += two.bottom;
  two.write(directory);
  const Opened opened(directory.path() + "/__0_0.distcp");
  CHECK(opened.state.records.size() == 1);
  CHECK(opened.says(Code::unreadable, "that the directory does not list"));
  CHECK(opened.says(Code::unreadable, "precede the archive"));
}

TEST_CASE("DC04: chunks outside, holes and overlaps are found when pieces are put together") {
  const std::string item = DcpWriter::chunk({2}, {1, 2});
  const auto codes = [&](const std::vector<std::int64_t>& starts) {
    const TempDir directory;
    DcpWriter table;
    std::vector<DcpWriter::Chunk> chunks;
    std::string data;
    for (const std::int64_t start : starts) {
      chunks.push_back({{start}, {2}, {"__0_0.distcp", size_of(data), size_of(item)}});
      data += item;
    }
    table.tensor("w", {5}, chunks);
    directory.write(".metadata", table.bytes());
    directory.write("__0_0.distcp", data);
    Opened opened(directory);
    const auto assembly = assemble::assemble(std::move(opened.state), Mesh(), Numbers());
    std::vector<Code> found;
    for (const Finding& finding : assembly.findings) found.push_back(finding.code);
    return found;
  };
  CHECK(codes({0, 2}) == std::vector{Code::omission});
  CHECK(codes({0, 1}) == std::vector{Code::overlap});
  CHECK(codes({0, 4}).front() == Code::shape_or_dtype);
}

TEST_CASE("DC05: a missing, empty or extra data file is named, the rest is read") {
  const TwoRanks two;
  const TempDir missing;
  two.write(missing);
  std::filesystem::remove(missing.path("__1_0.distcp"));
  const Opened without(missing);
  CHECK(without.state.records.size() == 1);
  CHECK(without.state.missing_ranks == std::vector<std::int32_t>{1});
  CHECK(without.state.unreadable_ranks.empty());
  CHECK(without.state.findings.empty());

  const TempDir one_of_two;
  TwoRanks three;
  three.table.tensor("model.v", {1, 2},
                     {{{0, 0}, {1, 2}, {"__1_1.distcp", 0, size_of(three.bottom)}}});
  three.write(one_of_two);
  const Opened partly(one_of_two);
  CHECK(partly.state.missing_ranks.empty());
  REQUIRE(partly.state.unreadable_ranks.contains(1));
  CHECK(partly.state.unreadable_ranks.at(1).where().file.ends_with("__1_1.distcp"));

  const TempDir cut;
  two.write(cut);
  cut.write("__1_0.distcp", two.bottom.substr(0, 40));
  const Opened shorter(cut);
  REQUIRE(shorter.state.unreadable_ranks.contains(1));
  CHECK(shorter.state.unreadable_ranks.at(1).message().find("ends at 40") != std::string::npos);

  const TempDir extra;
  two.write(extra);
  extra.write("__2_0.distcp", "bytes");
  const Opened more(extra);
  CHECK(more.says(Code::torn, "names nothing in this file"));
  CHECK(more.state.bytes_unclaimed == 5);
}

TEST_CASE("DC05: what lies only on a missing rank is named, and no file beside the rank") {
  const std::string value = tests::torch_archive(pickled::integer(3));
  const TempDir directory;
  TwoRanks two;
  two.table.tensor("model.v", {1, 2}, {{{0, 0}, {1, 2}, {"__1_1.distcp", 0, size_of(two.bottom)}}});
  two.table.item("epoch", {"__1_1.distcp", size_of(two.bottom), size_of(value)});
  two.write(directory);
  std::filesystem::remove(directory.path("__1_0.distcp"));
  Opened opened(directory);
  CHECK(opened.state.findings.size() == 2);
  CHECK(opened.says(Code::omission, "v lies on rank 1, which is missing"));
  CHECK(opened.says(Code::omission, "values lie on missing ranks: epoch"));
  CHECK(opened.state.unreadable == 1);
  const auto assembly = assemble::assemble(std::move(opened.state), Mesh(), Numbers());
  REQUIRE(assembly.findings.size() == 1);
  CHECK(assembly.findings[0].code == Code::missing_rank);
  CHECK(assembly.findings[0].message == "rank 1 holds nothing; tensors with holes for it: 1");

  std::filesystem::remove(directory.path("__0_0.distcp"));
  const Opened none(directory);
  CHECK(none.state.missing_ranks.empty());
  CHECK(none.state.unreadable_ranks.size() == 2);
}

TEST_CASE("DC06: items by what they are: safetensors, an unknown transform, no archive at all") {
  const TempDir directory;
  DcpWriter table;
  table.tensor("w", {2}, {{{0}, {2}, {"__0_0.distcp", 0, 8}}});
  directory.write(".metadata", table.bytes());
  directory.write("__0_0.distcp", tests::small_safetensors("w"));
  const Opened opened(directory);
  REQUIRE(opened.state.records.size() == 1);
  CHECK(values_of(opened.state.records[0]) == std::vector<float>{1, 2});

  const TempDir odd;
  const std::string item = DcpWriter::chunk({2}, {1, 2});
  DcpWriter strange;
  strange.tensor("w", {2}, {{{0}, {2}, {"__0_0.distcp", 0, size_of(item), {"stream.rot13/1"}}}});
  strange.tensor("raw", {2}, {{{0}, {2}, {"__0_0.distcp", size_of(item), 8}}});
  odd.write(".metadata", strange.bytes());
  odd.write("__0_0.distcp", item + "12345678");
  const Opened other(odd);
  REQUIRE(other.state.records.size() == 2);
  for (const Record& record : other.state.records) {
    CHECK_THROWS_AS(values_of(record), Error);
    CHECK(record.piece.where().file.ends_with("__0_0.distcp"));
  }
}

TEST_CASE("dcp: the bytes of a tensor whose type is not read belong to an item all the same") {
  const TempDir directory;
  TwoRanks ranks;
  ranks.table.tensor("model.q", {2, 2}, {{{0, 0}, {2, 2}, {"__2_0.distcp", 0, size_of(ranks.top)}}},
                     "qint8");
  ranks.write(directory);
  directory.write("__2_0.distcp", ranks.top);
  const Opened opened(directory);
  CHECK(opened.says(Code::unreadable, "model.q is of type qint8, which is not read"));
  CHECK(opened.state.unreadable == 1);
  CHECK(opened.state.records.size() == 2);
  CHECK_FALSE(opened.says(Code::torn, "belong to no item"));
  CHECK(opened.state.bytes_unclaimed == 0);
}

TEST_CASE("DC07: sizes that overflow are refused, and many chunks are quick") {
  const TempDir directory;
  TwoRanks two;
  const std::int64_t huge = INT64_MAX;
  two.table.tensor("model.big", {huge, huge}, {{{0, 0}, {huge, huge}, {"__0_0.distcp", 0, 4}}});
  two.write(directory);
  const Opened opened(directory);
  CHECK(opened.state.records.size() == 2);
  CHECK(opened.state.unreadable >= 1);

  DcpWriter table;
  std::vector<DcpWriter::Chunk> chunks(20'000, {{0}, {1}, {"__0_0.distcp", 0, 4}});
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    chunks[i].offsets = {static_cast<std::int64_t>(i)};
  }
  table.tensor("w", {20'000}, chunks);
  const tests::MemorySource source(tests::to_bytes(table.bytes()));
  const DcpMetadata metadata = read_dcp_metadata(source);
  CHECK(metadata.tensors.at(0).chunks.at(19'999).place.has_value());
  CHECK(metadata.findings.empty());
}

TEST_CASE("DC08: data without a table is a save that was not finished, never empty") {
  const TwoRanks two;
  const TempDir torn;
  torn.write("__0_0.distcp", two.top);
  const Opened opened(torn);
  CHECK(opened.says(Code::torn, "1 data files"));
  CHECK(opened.state.unreadable == 1);
  CHECK(opened.state.bytes_unclaimed == two.top.size());

  const TempDir early;
  two.write(early);
  std::filesystem::rename(early.path(".metadata"), early.path(".metadata.tmp"));
  const Opened tmp(early);
  CHECK(tmp.says(Code::torn, ".metadata.tmp"));
  CHECK(tmp.state.records.size() == 2);

  const TempDir both;
  two.write(both);
  both.write("__0.metadata", two.table.bytes());
  CHECK(Opened(both).says(Code::torn, "second table"));
}

TEST_CASE("DC09: data of another save than the table are told by size and by what items hold") {
  const TempDir directory;
  const TwoRanks two;
  two.write(directory);
  directory.write("__1_0.distcp", two.bottom + DcpWriter::chunk({2}, {1, 2}));
  CHECK(Opened(directory).says(Code::torn, "belong to no item"));

  const TempDir swapped;
  TwoRanks other;
  other.write(swapped);
  swapped.write("__1_0.distcp", DcpWriter::chunk({2, 1}, kBottom));
  const Opened opened(swapped);
  const auto last = std::ranges::find_if(
      opened.state.records, [](const Record& record) { return record.piece.rank == 1; });
  REQUIRE(last != opened.state.records.end());
  CHECK_THROWS_WITH_AS(values_of(*last), doctest::Contains("the table says f32[1, 2]"), Error);
}

TEST_CASE("dcp: ranks that saved alone have a table each; their copies are replicas") {
  const TempDir directory;
  const std::string item = DcpWriter::chunk({2}, {1, 2});
  for (const int rank : {0, 1, 3}) {
    DcpWriter table;
    const std::string file = "__" + std::to_string(rank) + "_0.distcp";
    table.tensor("w", {2}, {{{0}, {2}, {file, 0, size_of(item)}}});
    directory.write("__" + std::to_string(rank) + ".metadata", table.bytes());
    directory.write(file, item);
  }
  directory.write("__4_0.distcp", item);
  const Opened opened(directory);
  REQUIRE(opened.state.records.size() == 3);
  CHECK(opened.state.records[2].piece.rank == 3);
  CHECK(opened.state.missing_ranks == std::vector<std::int32_t>{2});
  CHECK(opened.state.unreadable_ranks.contains(4));
}

TEST_CASE("MD05 MD06: values of unknown classes are facts, scripts are counted, no more") {
  const TempDir directory;
  TwoRanks two;
  const std::string value =
      tests::torch_archive(pickled::call("megatron.core.enums", "ModelType", {"K\1"}));
  two.table.item("args", {"__2_0.distcp", 0, size_of(value)});
  two.write(directory);
  directory.write("__2_0.distcp", value);
  directory.write("zero_to_fp32.py", "print()");
  const Opened opened(directory);
  CHECK(opened.fact("args.0") != nullptr);
  CHECK_FALSE(opened.says(Code::unreadable, "zero_to_fp32.py"));
  CHECK(opened.state.bytes_unclaimed == 7);
  CHECK(opened.state.records.size() == 2);
}

TEST_CASE("dcp: a key beside the container keeps a name of its own") {
  const TempDir directory;
  TwoRanks two;
  const std::string beside = DcpWriter::chunk({2, 2}, kTop);
  two.table.tensor("w", {2, 2}, {{{0, 0}, {2, 2}, {"__2_0.distcp", 0, size_of(beside)}}});
  two.table.path("w", {"w"});
  two.write(directory);
  directory.write("__2_0.distcp", beside);
  const Opened opened(directory);
  CHECK(opened.names() == std::vector<std::string>{"w", "w#2"});
  CHECK(opened.says(Code::name_mapping, "model.w and w have the name w here"));
}

TEST_CASE("dcp: options of an optimizer that differ between ranks' tables are all there") {
  const TempDir directory;
  const std::string chunk = DcpWriter::chunk({2, 2}, kTop);
  for (int rank = 0; rank < 2; ++rank) {
    const std::string name = "__" + std::to_string(rank) + "_0.distcp";
    const std::string rate = tests::torch_archive(pickled::integer(rank + 1));
    DcpWriter table;
    table.tensor("model.w", {2, 2}, {{{0, 0}, {2, 2}, {name, 0, size_of(chunk)}}});
    table.item("optim.param_groups.0.lr", {name, size_of(chunk), size_of(rate)});
    directory.write("__" + std::to_string(rank) + ".metadata", table.bytes());
    directory.write(name, chunk + rate);
  }
  const Opened opened(directory);
  REQUIRE(opened.fact("optimizer.groups.0.lr") != nullptr);
  CHECK(opened.fact("optimizer.groups.0.lr")->value == FactValue(std::int64_t{1}));
  REQUIRE(opened.fact("optimizer.groups.0.lr.rank.1") != nullptr);
  CHECK(opened.fact("optimizer.groups.0.lr.rank.1")->value == FactValue(std::int64_t{2}));
}

TEST_CASE("dcp: options of parameters are numbered in the order of the optimizer's groups") {
  const TempDir directory;
  const std::string name = "__0_0.distcp";
  const std::string chunk = DcpWriter::chunk({2, 2}, kTop);
  const std::string none = tests::torch_archive(pickled::integer(0));
  const std::string decay = tests::torch_archive(pickled::integer(1));
  const std::int64_t first = size_of(chunk);
  DcpWriter table;
  for (const char* parameter : {"bias", "weight"}) {  // as the model has them
    table.tensor(std::string("model.") + parameter, {2, 2}, {{{0, 0}, {2, 2}, {name, 0, first}}});
    table.path(std::string("model.") + parameter, {"model", parameter});
  }
  table.item("optim.param_groups.bias.decay", {name, first, size_of(none)});
  table.item("optim.param_groups.weight.decay", {name, first + size_of(none), size_of(decay)});
  table.path("optim.param_groups.weight.decay", {"optim", "param_groups.weight.decay"});
  table.path("optim.param_groups.bias.decay", {"optim", "param_groups.bias.decay"});
  directory.write(".metadata", table.bytes());
  directory.write(name, chunk + none + decay);
  const Opened opened(directory);
  REQUIRE(opened.fact("optimizer.groups.0.decay") != nullptr);
  CHECK(opened.fact("optimizer.groups.0.decay")->value == FactValue(std::int64_t{1}));
  REQUIRE(opened.fact("optimizer.groups.1.decay") != nullptr);
  CHECK(opened.fact("optimizer.groups.1.decay")->value == FactValue(std::int64_t{0}));
}

TEST_CASE("dcp: bytes of a chunk that are not those of its checksum are said") {
  const TempDir directory;
  TwoRanks two;
  const std::string numbers(reinterpret_cast<const char*>(kTop.data()), sizeof(float) * 4);
  two.top[two.top.find(numbers) + 5] ^= 1;
  two.write(directory);
  const Opened opened(directory);
  REQUIRE(opened.state.findings.size() == 1);
  CHECK(opened.state.findings[0].code == Code::checksum);
  CHECK(opened.state.findings[0].tensor == "w");
  CHECK(opened.state.records.size() == 2);
}

}  // namespace
}  // namespace ttcheck::formats
