// SPDX-License-Identifier: Apache-2.0
#include "formats/arrays/safetensors_header.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "formats/open.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using tests::safetensors_of;
using tests::TempDir;

/// The state of a file with these bytes.
State state_of(const std::string& bytes) {
  const TempDir directory;
  Result<Run> run = open(directory.write("model.safetensors", bytes));
  if (!run) throw run.error();
  return run->open(0);
}

State state_of(std::string_view header, std::size_t data_bytes) {
  return state_of(safetensors_of(header, std::string(data_bytes, '\x01')));
}

std::string error_of(const std::string& bytes) {
  const TempDir directory;
  const Result<Run> run = open(directory.write("model.safetensors", bytes));
  REQUIRE_FALSE(run.has_value());
  CHECK(run.error().where().file.ends_with("model.safetensors"));
  CHECK(run.error().where().offset.has_value());
  return run.error().message();
}

bool mentions(const State& state, Code code, std::string_view text) {
  for (const Finding& finding : state.findings) {
    if (finding.code == code && finding.message.find(text) != std::string::npos && finding.where &&
        finding.where->offset) {
      return true;
    }
  }
  return false;
}

constexpr std::string_view kTwo = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                  R"("b":{"dtype":"BF16","shape":[2,3],"data_offsets":[8,20]}})";

TEST_CASE("safetensors: names, dtypes, shapes, offsets and values") {
  const TempDir directory;
  Result<Run> run = open(directory.write("x", tests::small_safetensors("layer.w@exp_avg")));
  REQUIRE(run.has_value());
  CHECK(run->format == "safetensors");
  const State state = run->open(0);
  REQUIRE(state.records.size() == 1);
  const Record& record = state.records[0];
  CHECK(record.identity.name == "layer.w@exp_avg");
  CHECK(record.kind == Kind::moment1);
  CHECK(record.dtype == DType::f32);
  CHECK(record.shape == Shape{2});
  float values[2] = {};
  record.piece.source->read(record.piece.offset, std::as_writable_bytes(std::span(values)));
  CHECK(values[0] == 1.0F);
  CHECK(values[1] == 2.0F);
  CHECK(run->bytes_read() > 0);
  CHECK(run->close().empty());
}

TEST_CASE("ST01 length of the header beyond the file, zero, or not there") {
  CHECK(error_of(tests::u64_le(~0ULL) + "{\"a\":1}").find("begins with") != std::string::npos);
  const TempDir directory;
  CHECK_FALSE(open(directory.write("short", "\x01\x02")).has_value());
  CHECK_FALSE(open(directory.write("zero", tests::u64_le(0) + "{}")).has_value());
  CHECK(error_of(tests::u64_le(100) + "{\"a\":1}").find("100 bytes is claimed") !=
        std::string::npos);
}

TEST_CASE("ST02 a header above the cap is refused by name of the cap") {
  const TempDir directory;
  const std::string path = directory.write("m", tests::u64_le(100'000'001) + "{\"");
  std::filesystem::resize_file(path, 200'000'000);
  const Result<Run> run = open(path);
  REQUIRE_FALSE(run.has_value());
  CHECK(run.error().message().find("at most 100000000") != std::string::npos);
}

TEST_CASE("ST03 header that is no strict JSON") {
  CHECK(error_of(safetensors_of("{\"a\":}", "")).find("malformed JSON") != std::string::npos);
  CHECK(error_of(safetensors_of("{} {}", "")).find("more after the end") != std::string::npos);
  CHECK(error_of(safetensors_of("{\"\xff\":1}", "")).find("not UTF-8") != std::string::npos);
  CHECK(error_of(safetensors_of("{\"a\":1,}", "")).find("malformed") != std::string::npos);
  CHECK(error_of(safetensors_of("\xef\xbb\xbf{}", "")).size() > 10);  // a byte order mark
  const TempDir directory;
  CHECK_FALSE(open(directory.write("list", safetensors_of("[1]", ""))).has_value());
  const Result<Run> placed = open(directory.write("x", safetensors_of("{\"abc\":}", "")));
  REQUIRE_FALSE(placed.has_value());
  CHECK(*placed.error().where().offset >= 8);
  CHECK(*placed.error().where().offset <= 16);
  CHECK(state_of(safetensors_of("  {}   ", "")).records.empty());
}

TEST_CASE("ST04 duplicate names: both places are told, the first is kept") {
  const std::string header = R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                             R"("a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})";
  const State state = state_of(header, 4);
  CHECK(state.records.size() == 1);
  CHECK(state.unreadable == 1);
  CHECK(mentions(state, Code::unreadable,
                 fmt::format("twice, at 0xd and 0x{:x}", 8 + header.rfind("{\"dtype"))));
}

TEST_CASE("ST05 data_offsets of other types or orders") {
  const auto refused = [](std::string_view offsets, std::string_view text) {
    const State state =
        state_of(fmt::format(R"({{"a":{{"dtype":"U8","shape":[2],"data_offsets":{}}},)"
                             R"("b":{{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}}})",
                             offsets),
                 2);
    CHECK(state.records.size() == 1);
    CHECK(state.unreadable == 1);
    CHECK(mentions(state, Code::unreadable, text));
  };
  refused("[4,2]", "before they begin");
  refused("[-1,2]", "found a sign");
  refused("[0.0,2]", "found a real");
  refused("[\"0\",2]", "found a string");
  refused("[0,1,2]", "3 numbers");
  refused("[9223372036854775808,9223372036854775810]", "cut off");
  refused("[18446744073709551614,18446744073709551615]", "overflow");
}

TEST_CASE("ST06 holes, overlaps, late start and trailing bytes are found, tensors stay") {
  const State hole = state_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},)"
                              R"("b":{"dtype":"U8","shape":[2],"data_offsets":[6,8]}})",
                              10);
  CHECK(hole.records.size() == 2);
  CHECK(hole.bytes_unclaimed == 1 + 3 + 2);
  CHECK(mentions(hole, Code::torn, "(1 bytes)"));
  CHECK(mentions(hole, Code::torn, "(3 bytes)"));
  CHECK(mentions(hole, Code::torn, "no tensor owns the last bytes"));
  const State overlap = state_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                                 R"("b":{"dtype":"U8","shape":[2],"data_offsets":[3,5]}})",
                                 5);
  CHECK(overlap.records.size() == 2);
  CHECK(mentions(overlap, Code::overlap, "1 tensors begin inside"));
}

TEST_CASE("ST07 shapes that overflow, are too deep or negative") {
  const auto refused = [](const std::string& shape, std::string_view text) {
    const State state = state_of(
        fmt::format(R"({{"a":{{"dtype":"F64","shape":[{}],"data_offsets":[0,8]}}}})", shape), 8);
    CHECK(state.records.empty());
    CHECK(mentions(state, Code::unreadable, text));
  };
  refused("4294967296,4294967296", "overflow");
  refused("9223372036854775807", "overflow");
  refused("18446744073709551615", "does not fit");
  refused("-1", "sign");
  std::string many = "1";
  for (int i = 0; i < 100'000; ++i) many += ",1";
  refused(many, "100001 dimensions");
}

TEST_CASE("ST08 size that is not shape x dtype; odd counts of sub-byte types") {
  CHECK(mentions(state_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,7]}})", 7),
                 Code::unreadable, "span 7 bytes, dtype and shape need 8"));
  CHECK(mentions(state_of(R"({"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}})", 2),
                 Code::unreadable, "12 bits"));
  const State f4 = state_of(R"({"a":{"dtype":"F4","shape":[2,4],"data_offsets":[0,4]}})", 4);
  REQUIRE(f4.records.size() == 1);
  CHECK(f4.records[0].shape == Shape{2, 4});
  CHECK(f4.records[0].dtype == DType::f4_e2m1);
}

TEST_CASE("ST09 an unknown dtype costs one tensor") {
  const State state = state_of(R"({"a":{"dtype":"F1","shape":[2],"data_offsets":[0,2]},)"
                               R"("b":{"dtype":"C64","shape":[1],"data_offsets":[2,10]}})",
                               10);
  CHECK(state.records.size() == 1);
  CHECK(state.records[0].dtype == DType::c64);
  CHECK(state.bytes_unclaimed == 0);
  CHECK(mentions(state, Code::unreadable, "'F1' is not known"));
}

TEST_CASE("ST10 zero-size and rank 0 tensors are fine") {
  const State state = state_of(R"({"e":{"dtype":"F32","shape":[0,4],"data_offsets":[0,0]},)"
                               R"("s":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})",
                               4);
  CHECK(state.records.size() == 2);
  CHECK(state.findings.empty());
}

TEST_CASE("ST11 a cut in the data names what is gone and keeps what is there") {
  const std::string whole = safetensors_of(kTwo, std::string(20, 'x'));
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    const TempDir directory;
    Result<Run> run = open(directory.write("m.safetensors", whole.substr(0, cut)));
    if (!run) {
      CHECK(run.error().where().file.ends_with("m.safetensors"));
      continue;
    }
    const State state = run->open(0);
    CHECK(mentions(state, Code::unreadable, "cut off"));
    CHECK(std::any_of(state.findings.begin(), state.findings.end(),
                      [](const Finding& finding) { return finding.tensor == "b"; }));
    CHECK(state.records.size() == (cut < whole.size() - 12 ? 0 : 1));
  }
}

TEST_CASE("ST12 S10 many tensors on the same bytes: as many are read as claim the buffer twice") {
  std::string header = "{";
  for (int i = 0; i < 100'000; ++i) {
    header += fmt::format(R"({}"t{}":{{"dtype":"U8","shape":[16],"data_offsets":[0,16]}})",
                          i == 0 ? "" : ",", i);
  }
  const State state = state_of(header + "}", 16);
  CHECK(state.records.size() == 2);
  CHECK(state.findings.size() == 2);
  CHECK(mentions(state, Code::overlap, "99999 tensors"));
  CHECK(mentions(state, Code::unreadable, "99998 tensors are not read"));
}

TEST_CASE("ST13 metadata: strings become notes, anything else is told") {
  const State good = state_of(R"({"__metadata__":{"format":"pt","x":"\u001b[2J"}})", 0);
  REQUIRE(good.facts.size() == 2);
  CHECK(good.facts[0].name == "metadata.format");
  CHECK(good.facts[0].use == FactUse::note);
  const State bad = state_of(R"({"__metadata__":{"n":1}})", 0);
  CHECK(mentions(bad, Code::unreadable, "a string was expected"));
  const State long_value =
      state_of("{\"__metadata__\":{\"a\":\"" + std::string(1 << 20, 'x') + "\"}}", 0);
  const std::string shown = std::get<std::string>(long_value.facts.at(0).value);
  CHECK(shown.size() < 2000);
  const State other =
      state_of("{\"__metadata__\":{\"a\":\"" + std::string((1 << 20) - 1, 'x') + "y\"}}", 0);
  CHECK(std::get<std::string>(other.facts.at(0).value) != shown);  // a hash of the whole is kept
}

TEST_CASE("ST13 a key of the metadata that is there twice is told") {
  const State state = state_of(R"({"__metadata__":{"a":"1","b":"2","a":"3"}})", 0);
  CHECK(mentions(state, Code::unreadable, "has the key a twice: only the first is used"));
  REQUIRE(state.facts.size() == 2);
  CHECK(state.facts[0].value == FactValue(std::string("1")));
}

TEST_CASE("ST14 nesting") {
  const std::string deep(100'000, '[');
  CHECK(error_of(safetensors_of("{\"a\":" + deep, "")).size() > 10);
  const std::string closed = "{\"a\":" + std::string(100, '[') + std::string(100, ']') + "}";
  CHECK(error_of(safetensors_of(closed, "")).find("nested deeper") != std::string::npos);
  const State state = state_of(R"({"a":{"dtype":"U8","shape":[[1]],"data_offsets":[0,1]}})", 1);
  CHECK(mentions(state, Code::unreadable, "found an array"));
}

TEST_CASE("ST15 numbers that are no plain integers") {
  for (const std::string& number :
       std::vector<std::string>{"1e0", "-0", "1.0", std::string(30, '1')}) {
    const State state = state_of(
        fmt::format(R"({{"a":{{"dtype":"U8","shape":[{}],"data_offsets":[0,1]}}}})", number), 1);
    CHECK_MESSAGE(state.records.empty(), number);
  }
  CHECK(error_of(safetensors_of(R"({"a":{"dtype":"U8","shape":[01],"data_offsets":[0,1]}})", "x"))
            .find("malformed") != std::string::npos);
  CHECK(error_of(safetensors_of("{\"a\":" + std::string(400, '1') + "}", "x")).find("malformed") !=
        std::string::npos);
}

TEST_CASE("NM04 NM05 names are kept as they are, however odd or long") {
  const std::string odd = "\\u001b]0;x\\u0007\\u202e" + std::string(100'000, 'n');
  const State state =
      state_of("{\"" + odd + R"(":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1);
  REQUIRE(state.records.size() == 1);
  CHECK(state.records[0].identity.name.starts_with("\x1b]0;x\x07\xe2\x80\xae"));
  CHECK(state.records[0].identity.name.size() > 100'000);
}

}  // namespace
}  // namespace ttcheck::formats
