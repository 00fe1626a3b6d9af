// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <zlib.h>
#include <algorithm>

#include "formats/open.hpp"
#include "tests/support/npy_text.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/zip_writer.hpp"

namespace ttcheck::formats {
namespace {

using tests::npy_header;
using tests::npy_of;
using tests::TempDir;

State state_of(const std::string& bytes, const std::string& file = "w.npy") {
  const TempDir directory;
  Result<Run> run = open(directory.write(file, bytes));
  if (!run) throw run.error();
  return run->open(0);
}

std::string error_of(const std::string& bytes) {
  const TempDir directory;
  const Result<Run> run = open(directory.write("w.npy", bytes));
  REQUIRE_FALSE(run.has_value());
  CHECK(run.error().where().file.ends_with("w.npy"));
  CHECK(run.error().where().offset.has_value());
  return run.error().message();
}

std::string header_error(const std::string& header) {
  return error_of(npy_of(header, std::string(64, 'x')));
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

bool mentions(const State& state, Code code, std::string_view text) {
  return std::ranges::any_of(state.findings, [&](const Finding& finding) {
    return finding.code == code && contains(finding.message, text);
  });
}

/// A stored or deflated archive of these members.
std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members) {
  const auto le = [](std::uint64_t value, int bytes) {
    return tests::u64_le(value).substr(0, static_cast<std::size_t>(bytes));
  };
  std::string body, directory;
  for (const auto& [name, data] : members) {
    const auto crc =
        crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
    const std::string common = le(20, 2) + le(0, 2) + le(0, 2) + le(0, 4) + le(crc, 4) +
                               le(data.size(), 4) + le(data.size(), 4) + le(name.size(), 2) +
                               le(0, 2);
    directory += "PK\x01\x02" + le(20, 2) + common + le(0, 2) + le(0, 2) + le(0, 2) + le(0, 4) +
                 le(body.size(), 4) + name;
    body += "PK\x03\x04" + common + name + data;
  }
  return body + directory + "PK\x05\x06" + le(0, 4) + le(members.size(), 2) +
         le(members.size(), 2) + le(directory.size(), 4) + le(body.size(), 4) + le(0, 2);
}

TEST_CASE("npy: versions, dtype, shape and place") {
  for (const char major : {'\1', '\2', '\3'}) {
    const TempDir directory;
    const std::string header = npy_header("'<f4'", "(2, 3)");
    Result<Run> run =
        open(directory.write("layer.w.npy", npy_of(header, std::string(24, 'x'), major)));
    REQUIRE(run.has_value());
    CHECK(run->format == "npy");
    const State state = run->open(0);
    REQUIRE(state.records.size() == 1);
    CHECK(state.records[0].identity.name == "layer.w");
    CHECK(state.records[0].dtype == DType::f32);
    CHECK(state.records[0].shape == Shape{2, 3});
    CHECK(state.records[0].piece.offset == (major == 1 ? 10U : 12U) + header.size());
    CHECK(state.records[0].piece.cells.empty());
    CHECK(state.findings.empty());
  }
}

TEST_CASE("npy: scalars, empty arrays, old and tight headers") {
  CHECK(state_of(npy_of(npy_header("'<f4'", "()"), "1234")).records[0].shape.empty());
  CHECK(state_of(npy_of(npy_header("'<f4'", "(5, 0, 3)", "True"), "")).records[0].shape ==
        Shape{5, 0, 3});
  CHECK(state_of(npy_of(npy_header("'<f4'", "(1L, 2L)"), "12345678")).records[0].shape ==
        Shape{1, 2});
  CHECK(state_of(npy_of("{'shape':(2,),'fortran_order':True,'descr':'|u1'}", "12"))
            .records[0]
            .dtype == DType::u8);
}

TEST_CASE("NP01 length of the header beyond the file or the cap") {
  CHECK(contains(error_of("\x93NUMPY\x02" + std::string(1, '\0') + "\xff\xff\xff\xff"),
                 "4294967295 bytes is claimed"));
  CHECK(contains(error_of(npy_of(std::string(1 << 21, ' '), "", 2)), "at most 1048576"));
}

TEST_CASE("NP02 shape without the data") {
  CHECK(contains(error_of(npy_of(npy_header("'<f8'", "(65536, 65536)"), "12345678")),
                 "needs 34359738368 bytes, 8 are there"));
  CHECK(
      contains(error_of(npy_of(npy_header("'<f8'", "(4294967296, 4294967296)"), "")), "overflow"));
  CHECK(contains(error_of(npy_of(npy_header("'<f8'", "(9223372036854775807,)"), "")), "overflow"));
}

TEST_CASE("F8 NP03 object arrays are compared byte by byte and never run") {
  const State state = state_of(npy_of(npy_header("'|O'", "(3,)"), "cos\nsystem\n(S'x'\ntR."));
  REQUIRE(state.records.size() == 1);
  CHECK(state.records[0].dtype == DType::u8);
  CHECK(state.records[0].shape == Shape{20});
  CHECK(mentions(state, Code::unsafe_pickle, "os.system"));
  REQUIRE(state.facts.size() == 1);
  CHECK(state.facts[0].name == "dtype.w");
  CHECK(state.facts[0].use == FactUse::compared);
  const State more = state_of(npy_of(npy_header("'|O'", "(3,)"), "N.x"));
  CHECK(mentions(more, Code::torn, "1 bytes behind the pickle"));  // F13: numpy reads it
  CHECK(more.findings.at(0).severity == Severity::warning);
  const State cut = state_of(npy_of(npy_header("'|O'", "(3,)"), "cos\nsystem\n(S'x'\nt"));
  CHECK(cut.unreadable == 1);
}

TEST_CASE("H16 objects in a compressed member are read up to a limit") {
  tests::ZipWriter made;
  made.add("w.npy", npy_of(npy_header("'|O'", "(3,)"), "(" + std::string(17 << 20, 'N') + "t."),
           {true, false, false, ""});
  const State state = state_of(made.finish(), "x.npz");
  CHECK(state.records.empty());
  CHECK(state.unreadable == 1);
  CHECK(mentions(state, Code::unreadable, "limit reached: a compressed pickle"));
}

TEST_CASE("NP04 header literals outside the grammar") {
  CHECK(contains(header_error(std::string(50'000, '(')), "'{' was expected"));
  CHECK(contains(header_error("{'descr': __import__('os'), 'shape': ()}"), "quoted string"));
  CHECK(contains(header_error("{'descr': '<f4', 'descr': '<f4'}"), "'descr' twice"));
  CHECK(contains(header_error("{'descr': '<f4', 'x': 1}"), "unknown key 'x'"));
  CHECK(contains(header_error("{'descr': '<f4', 'shape': (1,)}"), "are needed"));
  CHECK(contains(header_error(npy_header("'<f4'", "(3)")), "needs a comma"));
  CHECK(contains(header_error(npy_header("'<f4'", "(-3,)")), "negative"));
  CHECK(contains(header_error(npy_header("'<f4'", "(99999999999999999999,)")), "64 bits"));
  CHECK(contains(header_error(npy_header("'<f4'", "((1,),)")), "number was expected"));
  CHECK(contains(header_error(npy_header("'<f4'", "(1,)") + "# note"), "more after"));
  CHECK(contains(header_error("{'descr': '<f4"), "no end"));
  CHECK(contains(header_error("{'descr': '\\"), "no end"));
  CHECK(contains(header_error(npy_header("'<f4'", "()", "Maybe")), "True or False"));
  std::string many;
  for (int i = 0; i < 65; ++i) many += "1,";
  CHECK(contains(header_error(npy_header("'<f4'", "(" + many + ")")), "more than 64"));
}

TEST_CASE("F8 NP05 structured dtypes: sizes checked, contents compared byte by byte") {
  const std::string descr = "[('a', '<i8'), (('t', 'b'), '>f4', (3,)), ('c', [('d', '|S7')])]";
  const std::string good = npy_of(npy_header(descr, "(2,)"), std::string(2 * (8 + 12 + 7), 'x'));
  const State state = state_of(good);
  REQUIRE(state.records.size() == 1);
  CHECK(state.records[0].dtype == DType::u8);
  CHECK(state.records[0].shape == Shape{2, 8 + 12 + 7});
  CHECK(state.findings.empty());
  REQUIRE(state.facts.size() == 1);
  CHECK(state.facts[0].name == "dtype.w");
  CHECK(state.facts[0].value == FactValue(descr));
  CHECK(state.facts[0].use == FactUse::compared);
  CHECK(contains(error_of(good.substr(0, good.size() - 1)), "cut off"));
  const auto refused = [](const std::string& fields) {
    return error_of(npy_of(npy_header(fields, "(2,)"), "x"));
  };
  CHECK(contains(refused("[('a', '|V9223372036854775807', (3,))]"), "overflow"));
  CHECK(contains(refused("[('a', '|V99999999999999999999')]"), "64 bits"));
  CHECK(contains(refused("[('a', '<f4', (-1,))]"), "negative"));
  CHECK(contains(refused("[('a', '|V1099511627776')]"), "cut off"));
  CHECK(contains(refused("{'names': ['a'], 'formats': ['<f4'], 'offsets': [-4]}"),
                 "quoted string was expected"));
  const State empty = state_of(npy_of(npy_header("[('a', '|V0')]", "(2,)"), ""));
  CHECK(empty.records.at(0).shape == Shape{2, 0});
  std::string deep = "'<f4'";
  for (int i = 0; i < 20; ++i) deep = "[('a', " + deep + ")]";
  CHECK(contains(refused(deep), "nested deeper"));
}

TEST_CASE("NP06 byte order, Fortran order, dtypes that are and are not numbers") {
  const State fortran =
      state_of(npy_of(npy_header("'>f4'", "(2, 3)", "True"), std::string(24, 'x')));
  const Piece& piece = fortran.records.at(0).piece;
  CHECK(piece.order == ByteOrder::big);
  REQUIRE(piece.cells.size() == 1);
  CHECK(piece.cells[0].strides == Extents{1, 2});
  CHECK(piece.cells[0].box == ttcheck::whole({2, 3}));
  const std::vector<std::pair<std::string, DType>> known = {
      {"|b1", DType::boolean},  {"|i1", DType::i8},        {"<i2", DType::i16},
      {"<u4", DType::u32},      {">i8", DType::i64},       {"<f2", DType::f16},
      {"<f8", DType::f64},      {"<c8", DType::c64},       {"<c16", DType::c128},
      {"<V2", DType::bf16},     {"|V1", DType::f8_e4m3fn}, {"<f1", DType::f8_e5m2},
      {"bfloat16", DType::bf16}};
  for (const auto& [code, dtype] : known) {
    const State state = state_of(
        npy_of(npy_header("'" + code + "'", "(2,)"), std::string(byte_size(dtype, 2), 'x')));
    CHECK_MESSAGE(state.records.at(0).dtype == dtype, code);
    CHECK(state.facts.size() == (code == "<V2" || code == "|V1" || code == "<f1" ? 1 : 0));
  }
  for (const auto& [code, bytes] : std::vector<std::pair<std::string, std::size_t>>{
           {"<U7", 28}, {"|S3", 3}, {"<M8[25s]", 8}, {"|V0", 0}, {"<f16", 16}}) {
    const State state =
        state_of(npy_of(npy_header("'" + code + "'", "(1,)"), std::string(bytes, 'x')));
    const Shape shape = {1, static_cast<std::int64_t>(bytes)};
    CHECK_MESSAGE(state.records.at(0).shape == shape, code);
    CHECK_MESSAGE(state.facts.size() == 1, code);
  }
  CHECK(contains(error_of(npy_of(npy_header("'<q9'", "(1,)"), "123456789")), "not known"));
  CHECK(contains(error_of(npy_of(npy_header("''", "(1,)"), "1")), "not known"));
}

TEST_CASE("the bytes of an item stay together in either order of storage") {
  const State rows = state_of(npy_of(npy_header("'|S2'", "(2, 3)", "False"), "aabbccddeeff"));
  CHECK(rows.records.at(0).piece.cells.empty());
  const State columns = state_of(npy_of(npy_header("'|S2'", "(2, 3)", "True"), "aaddbbeeccff"));
  const Record& record = columns.records.at(0);
  CHECK(record.shape == Shape{2, 3, 2});
  REQUIRE(record.piece.cells.size() == 1);
  CHECK(record.piece.cells[0].strides == Extents{2, 4, 1});
  CHECK(record.piece.cells[0].box == ttcheck::whole({2, 3, 2}));
}

TEST_CASE("NP07 missing or trailing data, at every cut") {
  const std::string good = npy_of(npy_header("'<f4'", "(2, 3)"), std::string(24, 'x'));
  const State more = state_of(good + "xyz");
  CHECK(more.records.size() == 1);
  CHECK(more.bytes_unclaimed == 3);
  CHECK(mentions(more, Code::torn, "3 bytes behind the array"));
  for (std::size_t cut = 0; cut < good.size(); ++cut) {
    const TempDir directory;
    const Result<Run> run = open(directory.write("w.npy", good.substr(0, cut)));
    REQUIRE_FALSE(run.has_value());
    CHECK(run.error().where().file.ends_with("w.npy"));
  }
}

TEST_CASE("NP08 npz: members, odd ones, two of one name") {
  const std::string array = npy_of(npy_header("'<f4'", "(1,)"), "1234");
  const State good = state_of(zip_of({{"a/b/w.npy", array}, {"v.npy", array}}), "x.npz");
  REQUIRE(good.records.size() == 2);
  CHECK(good.records[0].identity.name == "a.b.w");
  CHECK(good.findings.empty());
  CHECK(good.bytes_unclaimed == 0);
  const State odd = state_of(
      zip_of(
          {{"note.txt", "hi"}, {"w.npy", array}, {"cut.npy", array.substr(0, array.size() - 1)}}),
      "x.npz");
  CHECK(odd.records.size() == 1);
  CHECK(odd.unreadable == 2);
  CHECK(mentions(odd, Code::unreadable, "no .npy array"));
  const State twice = state_of(zip_of({{"w.npy", array}, {"w.npy", array}}), "x.npz");
  CHECK(twice.records.size() == 1);
  CHECK(mentions(twice, Code::unreadable, "second member of this name"));
  // an archive within the archive is named and stays closed
  const State nested =
      state_of(zip_of({{"w.npy", array}, {"in.zip", zip_of({{"x.npy", array}})}}), "x.npz");
  CHECK(nested.records.size() == 1);
  CHECK(nested.unreadable == 1);
  CHECK(mentions(nested, Code::unreadable, "no .npy array"));
  std::string wrong = zip_of({{"w.npy", array}, {"v.npy", array}});
  wrong[wrong.find("1234")] = 'x';
  CHECK(mentions(state_of(wrong, "x.npz"), Code::checksum, ""));
}

TEST_CASE("NP09 versions that are not known") {
  for (const char version : {'\0', '\4', '\177', '\377'}) {
    CHECK(contains(error_of(npy_of(npy_header("'<f4'", "()"), "1234", version)), "npy version"));
  }
}

TEST_CASE("a folder with .npy files is npy; members of archives beside them get its stem") {
  const std::string array = npy_of(npy_header("'<f4'", "(1,)"), "1234");
  const TempDir directory;
  directory.write("a.npy", array);
  directory.write("b.npz", zip_of({{"w.npy", array}}));
  Result<Run> run = open(directory.path());
  REQUIRE(run.has_value());
  CHECK(run->format == "npy");
  const State state = run->open(0);
  REQUIRE(state.records.size() == 2);
  CHECK(state.records[0].identity.name == "a");
  CHECK(state.records[1].identity.name == "b.w");
}

}  // namespace
}  // namespace ttcheck::formats
