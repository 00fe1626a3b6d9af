// SPDX-License-Identifier: Apache-2.0
// The attack catalogue of torch's containers, one case an id.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "formats/open.hpp"

#include "tests/support/opened_torch.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using tests::kStorage;
using tests::little;
using tests::one_tensor;
using tests::torch_archive;
using tests::torch_legacy;
using tests::ZipWriter;
using Opened = tests::OpenedTorch;
namespace pickled = tests::pickled;
using namespace std::string_literals;

TEST_CASE("PK06: streams and bytes behind a bare pickle are counted and placed") {
  const std::string first = pickled::whole("K\1");
  const Opened two(first + pickled::whole("K\2"));
  CHECK(two.error("1 more pickles follow"));
  CHECK(two.finding("more pickles")->where->offset == first.size());
  const Opened tail(first + "\xff\xff");
  CHECK(tail.warning("2 bytes follow the pickle"));
  CHECK(tail.finding("2 bytes")->where->offset == first.size());
  CHECK(tail.state.bytes_unclaimed == 2);
  CHECK(Opened(first + pickled::whole(pickled::call("os", "system", {}))).warning("os.system"));
}

TEST_CASE("PK23: a pickle behind bytes that are none is found within 256 bytes") {
  const std::string first = pickled::whole("K\1");
  const std::string call = pickled::whole(pickled::call("os", "system", {}));
  const Opened near(first + std::string(200, '\xff') + call);
  CHECK(near.warning("200 bytes that are none follow the pickle"));
  CHECK(near.warning("os.system"));
  CHECK(near.error("1 more pickles follow"));
  const Opened far(first + std::string(300, '\xff') + call);
  CHECK(!far.warning("os.system"));
  CHECK(far.state.bytes_unclaimed == 300 + call.size());
}

TEST_CASE("PK24: persistent ids of the wrong shape, keys that look like paths") {
  const auto with_id = [](const std::string& id) {
    return torch_archive(pickled::dict(
        {{"w", pickled::call("torch._utils", "_rebuild_tensor_v2",
                             {id + "Q", "K\0"s, pickled::numbers({1}), pickled::numbers({1})})}}));
  };
  const std::string storage = pickled::global("torch", "FloatStorage");
  const auto keyed = [&](const std::string& key, const char* place) {
    return with_id(pickled::tuple(
        {pickled::text("storage"), storage, pickled::text(key), pickled::text(place), "K\4"}));
  };
  CHECK(Opened(with_id("K\5")).error("no well-formed storage id"));
  CHECK(Opened(with_id(pickled::tuple({pickled::text("storage"), storage}))).state.unreadable == 1);
  CHECK(Opened(keyed("../0", "cpu")).error("storage ../0 is missing"));
  CHECK(Opened(keyed("0\0x"s, "cpu")).error("storage 0\0x is missing"s));
  CHECK(Opened(keyed("0", "cpu")).record("w"));
  CHECK(Opened(keyed("0", "meta")).warning("meta tensor"));
}

TEST_CASE("PT01: a storage shorter than its tensors is named, others are read") {
  const Opened opened(torch_archive(
      pickled::dict({{"all", pickled::tensor({})},
                     {"part", pickled::tensor({"FloatStorage", "0", 4, 0, {2}, {1}})}}),
      kStorage.substr(0, 9)));
  CHECK(opened.error("reaches to byte 16 of storage 0, which has 9"));
  CHECK(opened.finding("reaches to byte 16")->tensor == "all");
  CHECK(opened.finding("reaches to byte 16")->where->object == "x/data/0");
  CHECK(opened.state.unreadable == 1);
  CHECK(opened.record("part"));
}

TEST_CASE("PT02, PK25: views beyond their storage, and hostile numbers") {
  const auto refused = [](const pickled::Tensor& tensor, std::string_view text) {
    const Opened opened(torch_archive(one_tensor(tensor)));
    CHECK(opened.state.records.empty());
    CHECK(opened.state.unreadable == 1);
    REQUIRE(opened.error(text));
    CHECK(opened.finding(text)->tensor == "w");
  };
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  refused({"FloatStorage", "0", 4, 3, {2}, {1}}, "reaches to byte 20");
  refused({"FloatStorage", "0", 4, kHuge, {2}, {1}}, "overflow");
  refused({"FloatStorage", "0", 4, 0, {2}, {kHuge}}, "overflow");
  refused({"FloatStorage", "0", 4, 0, {-2}, {1}}, "something other than a count");
  refused({"FloatStorage", "0", 4, 0, {2}, {-1}}, "something other than a count");
  refused({"FloatStorage", "0", 4, 0, {2, 2}, {1}}, "no valid offset, size and stride");
  refused({"FloatStorage", "0", 4, 0, {kHuge, kHuge}, {0, 0}}, "overflow");
  const std::vector<std::int64_t> ones(200'000, 1);
  refused({"FloatStorage", "0", 4, 0, ones, ones}, "64 at most");
  const std::string id =
      pickled::tuple({pickled::text("storage"), pickled::global("torch", "FloatStorage"),
                      pickled::text("0"), pickled::text("cpu"), "K\4"});
  const Opened words(torch_archive(
      pickled::dict({{"w", pickled::call("torch._utils", "_rebuild_tensor_v2",
                                         {id + "Q", "K\0"s, pickled::tuple({pickled::text("2")}),
                                          pickled::numbers({1})})}})));
  CHECK(words.error("size of a tensor has something other than a count"));
}

TEST_CASE("PT03: expanded tensors are noted, and refused beyond a budget") {
  const Opened small(torch_archive(one_tensor({"FloatStorage", "0", 4, 0, {1000, 2}, {0, 1}})));
  REQUIRE(small.record("w"));
  CHECK(small.record("w")->piece.cells.at(0).strides == Extents{0, 1});
  CHECK(small.says("w is expanded", Severity::note));
  const Opened huge(torch_archive(
      one_tensor({"FloatStorage", "0", 4, 0, {1'000'000'000, 1'000'000'000}, {0, 0}})));
  CHECK(huge.state.records.empty());
  CHECK(huge.warning(
      "limit reached: strides of 0 make 4000000000000000000 bytes of a storage of 16"));
}

TEST_CASE("PT04: a storage used under two classes is told, both tensors are there") {
  const Opened opened(torch_archive(
      pickled::dict({{"a", pickled::tensor({})}, {"b", pickled::tensor({"IntStorage", "0"})}})));
  CHECK(opened.warning("used as FloatStorage and as IntStorage"));
  REQUIRE(opened.state.records.size() == 2);
  CHECK(opened.record("a")->dtype == DType::f32);
  CHECK(opened.record("b")->dtype == DType::i32);
  CHECK(opened.record("a")->piece.offset == opened.record("b")->piece.offset);
  CHECK(opened.state.bytes_unclaimed == 0);
}

TEST_CASE("PT05: a storage that is missing, and one that is left over") {
  const Opened opened(torch_archive(one_tensor({"FloatStorage", "7"})));
  CHECK(opened.error("storage 7 is missing"));
  CHECK(opened.state.unreadable == 1);
  CHECK(opened.says("storage 0 of 16 bytes belongs to no tensor", Severity::note));
}

TEST_CASE("PT06: byteorder big swaps, none is little, junk is refused") {
  const auto order_of = [](const std::vector<std::pair<std::string, std::string>>& more) {
    return Opened(torch_archive(one_tensor({}), kStorage, more)).record("w")->piece.order;
  };
  CHECK(order_of({{"x/byteorder", "big"}}) == ByteOrder::big);
  CHECK(order_of({{"x/byteorder", "little"}}) == ByteOrder::little);
  CHECK(order_of({}) == ByteOrder::little);  // as written before torch 2.1
  for (const char* junk : {"middle", "BIG", "", "little\n"}) {
    CHECK_THROWS_WITH_AS(Opened(torch_archive(one_tensor({}), kStorage, {{"x/byteorder", junk}})),
                         doctest::Contains("byteorder"), Error);
  }
}

TEST_CASE("PT07: a second object is told and judged, so is one in other case") {
  const std::string call = pickled::whole(pickled::call("os", "system", {}));
  const Opened two(torch_archive(one_tensor({}), kStorage, {{"y/data.pkl", call}}));
  CHECK(two.error("second object"));
  CHECK(two.warning("y/data.pkl refers to what runs code (never called): os.system"));
  CHECK(two.record("w"));
  const Opened cased(torch_archive(one_tensor({}), kStorage, {{"x/Data.PKL", "N."}}));
  CHECK(cased.warning("another member has this name in other case"));
}

TEST_CASE("PT08: what a file is, its content says; another name is a finding") {
  const tests::TempDir directory;
  const auto opened = [&](const std::string& name, const std::string& bytes) {
    Result<Run> run = open(directory.write(name, bytes));
    if (!run) throw run.error();
    return std::move(*run);
  };
  const auto says = [](const Run& run, std::string_view text) {
    return std::any_of(run.findings.begin(), run.findings.end(), [&](const Finding& finding) {
      return finding.severity == Severity::warning &&
             finding.message.find(text) != std::string::npos;
    });
  };
  const Run other = opened("model.pt", tests::small_safetensors());
  CHECK(other.format == "safetensors");
  CHECK(says(other, "ends in .pt, the content is safetensors"));
  const Run archive = opened("w.safetensors", torch_archive(one_tensor({})));
  CHECK(archive.format == "torch");
  CHECK(says(archive, "ends in .safetensors, the content is torch"));
  CHECK(says(opened("bare.pt", pickled::whole(pickled::dict({{"epoch", "K\1"}}))), "bare pickle"));
  CHECK(opened("good.pt", torch_archive(one_tensor({}))).findings.empty());
  CHECK_THROWS_WITH_AS(opened("seven.pt", "7z\xbc\xaf\x27\x1c" + std::string(50, '\0')),
                       doctest::Contains("looks like a 7z archive"), Error);
}

TEST_CASE("PT09: a file that is an archive and a pickle is told to be both") {
  const std::string call = pickled::whole(pickled::call("os", "system", {}));
  const Opened front(call + torch_archive(one_tensor({})));
  CHECK(front.file->container() == TorchContainer::pickle);
  CHECK(front.warning("also ends as a zip archive"));
  CHECK(front.warning("os.system"));
  // `P` of the archive's signature asks for a persistent id up to the end of the line.
  ZipWriter made;
  made.add("x/\n0cos\nsystem\n(tR.", "");
  made.add("x/data.pkl", pickled::whole(one_tensor({})));
  made.add("x/data/0", kStorage);
  const Opened both(made.finish());
  CHECK(both.file->container() == TorchContainer::zip);
  CHECK(both.record("w"));
  CHECK(both.warning("first bytes are also a pickle"));
  CHECK(both.warning("the pickle at its start refers to what runs code (never called): os.system"));
  // Where a number happens to be a line's end in front of a stop, that is all the pickle there is.
  ZipWriter chance;
  chance.add("x/data/0", std::string(kStorage.size() - 2, '\0') + "\n.");
  chance.add("x/data.pkl", pickled::whole(one_tensor({})));
  const Opened one(chance.finish());
  CHECK(one.record("w"));
  CHECK_FALSE(one.warning("first bytes are also a pickle"));
}

TEST_CASE("PT10: a deflated storage is read as a stream, other methods are named") {
  ZipWriter made;
  made.add("x/data.pkl", pickled::whole(one_tensor({})), {true, false, false, ""});
  made.add("x/data/0", kStorage, {true, false, false, ""});
  const std::string bytes = made.finish();
  const Opened opened(bytes);
  REQUIRE(opened.record("w"));
  CHECK(opened.record("w")->piece.source->sequential());
  constexpr std::size_t kCentralMethod = 10;
  const Opened zstd(tests::patched(bytes, made.places[1].central + kCentralMethod, little(93, 2)));
  CHECK(zstd.error("unsupported method 93"));
  CHECK(zstd.state.unreadable == 1);
}

TEST_CASE("PT10: a deflated pickle is read up to a limit") {
  const std::string zeros(17 << 20, 'N');
  ZipWriter object;
  object.add("x/data.pkl", "(" + zeros + "t.", {true, false, false, ""});
  CHECK_THROWS_WITH_AS(Opened(object.finish()), doctest::Contains("limit reached: a compressed"),
                       Error);
  ZipWriter other;
  other.add("x/data.pkl", pickled::whole(one_tensor({})));
  other.add("x/data/0", kStorage);
  other.add("x/more.pkl", "(" + zeros + "t.", {true, false, false, ""});
  const Opened opened(other.finish());
  CHECK(opened.warning("limit reached: a compressed pickle"));
  CHECK(opened.record("w"));
}

TEST_CASE("PT11: an archive of a version that torch refuses is not passed over") {
  const auto of_version = [](const std::string& version) {
    return Opened(torch_archive(one_tensor({}), kStorage,
                                {{"x/version", version}, {"x/.format_version", version}}));
  };
  for (const std::string& version : {std::string(40, '9'), std::string(), "-1"s, "0"s}) {
    const Opened opened = of_version(version);
    CHECK(opened.state.records.size() == 1);
    CHECK(opened.error("the record of the archive's version holds none"));
  }
  CHECK(of_version("3\n").state.findings.empty());
  CHECK(of_version("11").warning("the archive is of version 11"));
  ZipWriter none;
  none.add("x/data.pkl", pickled::whole(one_tensor({})));
  none.add("x/data/0", kStorage);
  CHECK(Opened(none.finish()).error("no record of its version"));

  ZipWriter damaged;  // one that no reader inflates costs no tensors
  damaged.add("x/data.pkl", pickled::whole(one_tensor({})));
  damaged.add("x/data/0", kStorage);
  damaged.add("x/version", "3\n");
  const std::string sound = damaged.finish();
  constexpr std::size_t kLocalMethod = 8, kCentralMethod = 10;
  const Opened opened(
      tests::patched(tests::patched(sound, damaged.places[2].header + kLocalMethod, little(99, 2)),
                     damaged.places[2].central + kCentralMethod, little(99, 2)));
  CHECK(opened.record("w"));
  CHECK(opened.finding("unsupported method 99"));
}

TEST_CASE("PT12: hostile padding in front of a storage") {
  const auto padded = [](const std::string& extra) {
    ZipWriter made;
    made.add("x/data.pkl", pickled::whole(one_tensor({})));
    made.add("x/data/0", kStorage, {false, false, false, extra});
    made.add("x/version", "3\n");
    return made;
  };
  const std::string pad = "FB" + little(40, 2) + std::string(40, 'Z');
  ZipWriter good = padded(pad);
  CHECK(Opened(good.finish()).state.findings.empty());
  CHECK(Opened(good.bytes).record("w")->piece.where().offset == good.places[1].data);
  const Opened over(padded("FB" + little(65535, 2) + std::string(40, 'Z')).finish());
  CHECK(over.warning("runs over its end"));
  CHECK(over.record("w"));
  constexpr std::size_t kLocalExtraSize = 28;
  const Opened long_field(
      tests::patched(good.bytes, good.places[1].header + kLocalExtraSize, "\xff\xff"));
  CHECK(long_field.error("are not within the archive"));
  CHECK(long_field.state.unreadable == 1);
}

TEST_CASE("PT13: TorchScript archives are listed as code, their pickles judged") {
  const Opened opened(
      torch_archive(one_tensor({}), kStorage,
                    {{"x/code/__torch__/m.py", "import os"},
                     {"x/constants.pkl", pickled::whole(pickled::call("os", "system", {}))}}));
  CHECK(opened.file->container() == TorchContainer::script);
  CHECK(opened.file->has_code());
  CHECK(opened.record("w"));
  CHECK(opened.warning("x/constants.pkl refers to what runs code (never called): os.system"));
}

TEST_CASE("PT14: flags with which torch opens no member are damage, encrypted bytes are unknown") {
  ZipWriter made;
  made.add("x/data.pkl", pickled::whole(one_tensor({})));
  made.add("x/data/0", kStorage);
  const std::string bytes = made.finish();
  constexpr std::size_t kLocalFlags = 6, kCentralFlags = 8, kCentralPacked = 20;
  const tests::ZipWriter::Place& place = made.places[1];
  for (const std::uint64_t flag : {0x01U, 0x20U, 0x40U}) {
    const Opened flagged(
        tests::patched(tests::patched(bytes, place.header + kLocalFlags, little(flag, 2)),
                       place.central + kCentralFlags, little(flag, 2)));
    CHECK(flagged.error("member is flagged as"));
    CHECK(flagged.record("w"));
  }
  // Really encrypted: 12 bytes of key material are packed with the 16 bytes.
  ZipWriter secret;
  secret.add("x/data.pkl", pickled::whole(one_tensor({})));
  secret.add("x/data/0", std::string(28, 'e'));
  std::string text = secret.finish();
  const auto& hidden = secret.places[1];
  text = tests::patched(text, hidden.header + kLocalFlags, little(1, 2));
  text = tests::patched(text, hidden.central + kCentralFlags, little(1, 2));
  text = tests::patched(text, hidden.central + kCentralPacked + 4, little(16, 4));
  const Opened opened(text);
  CHECK(opened.error("stored member has 28 bytes but says 16"));
  CHECK(opened.state.unreadable == 1);
}

TEST_CASE("LT01: another magic number, protocol or system") {
  std::string text =
      torch_legacy(one_tensor({}), pickled::list({pickled::text("0")}), little(4, 8) + kStorage);
  const Opened magic(tests::patched(text, 5, "X"));
  CHECK(magic.file->container() == TorchContainer::pickle);
  CHECK(magic.error("more pickles follow; only the first one is read"));
  const std::size_t protocol = text.find("M\xe9\3");
  CHECK_THROWS_WITH_AS(Opened(tests::patched(text, protocol + 1, "\0\0"s)),
                       doctest::Contains("unknown protocol"), Error);
  const Opened system(torch_legacy(one_tensor({}), pickled::list({pickled::text("0")}),
                                   little(4, 8) + kStorage, "N"));
  CHECK(system.warning("byte order"));
  CHECK(system.finding("byte order")->where->offset > protocol);
}

TEST_CASE("LT02: counts that cannot be") {
  const std::string keys = pickled::list({pickled::text("0")});
  const auto counted = [&](std::uint64_t count) {
    return Opened(torch_legacy(one_tensor({}), keys, little(count, 8) + kStorage));
  };
  CHECK(counted(std::uint64_t{1} << 62).error("product overflows"));
  CHECK(counted(std::uint64_t{1} << 62).state.unreadable == 1);
  CHECK(counted(~std::uint64_t{0}).state.unreadable == 1);  // -1
  CHECK(counted(5).error("needs 20 bytes, 16 left"));
}

TEST_CASE("LT03: more or fewer keys than storages end the reading there") {
  const auto keyed = [](const std::string& keys, const std::string& storages) {
    return Opened(torch_legacy(one_tensor({}), keys, storages));
  };
  const std::string both = pickled::list({pickled::text("0"), pickled::text("1")});
  const Opened longer = keyed(both, little(4, 8) + kStorage);
  CHECK(longer.error("no tensor says what storage 1 holds"));
  CHECK(longer.finding("storage 1")->where->offset == longer.source->size());
  CHECK(longer.record("w"));
  const Opened shorter = keyed(pickled::list({}), little(4, 8) + kStorage);
  CHECK(shorter.error("storage 0 is missing"));
  CHECK(shorter.warning("24 bytes follow the last storage"));
}

TEST_CASE("LT04: a big-endian system") {
  const Opened opened(torch_legacy(one_tensor({}), pickled::list({pickled::text("0")}),
                                   std::string(7, '\0') + "\4" + kStorage, "\x89"));
  CHECK(opened.record("w")->piece.order == ByteOrder::big);
  CHECK(opened.state.findings.empty());
}

TEST_CASE("LT05, LT06: a tar archive is named and refused, nothing is unpacked") {
  const tests::TempDir directory;
  const auto tar = [](std::string name, std::string size, char type) {
    name.resize(100, '\0');
    size.resize(12, '\0');
    std::string header = name + std::string(24, '0') + size + std::string(12, '0') +
                         std::string(8, ' ') + type + std::string(100, '\0');
    header += "ustar\0"s + "00";
    header.resize(512, '\0');
    return header + std::string(1024, '\0');
  };
  // a path upwards, an absolute one, links and devices; sizes below zero and beyond octal
  const std::vector<std::string> hostile = {
      tar("../escaped", "00000000004", '0'), tar("/tmp/escaped", "00000000004", '0'),
      tar("storages", "00000000000", '2'),   tar("pickle", "00000000000", '1'),
      tar("tensors", "00000000000", '3'),    tar("storages", std::string(12, '\xff'), '0'),
      tar("storages", "777777777777", '0')};
  for (const std::string& bytes : hostile) {
    const Result<Run> run = open(directory.write("in/old.pt", bytes));
    REQUIRE_FALSE(run.has_value());
    CHECK(run.error().message().find("looks like a tar archive") != std::string::npos);
  }
  CHECK(std::distance(std::filesystem::recursive_directory_iterator(directory.path()), {}) == 2);
}

TEST_CASE("LT07: the magic number under other spellings") {
  const std::string text =
      torch_legacy(one_tensor({}), pickled::list({pickled::text("0")}), little(4, 8) + kStorage);
  const std::string number = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
  for (const std::string& spelling :
       {"L119547037146038801333356L\n."s, "\x8b" + little(10, 4) + number + ".",
        "\x80\x04\x95" + little(13, 8) + "\x8a\x0a" + number + "."}) {
    const Opened opened(spelling + text.substr(15));
    CHECK(opened.file->container() == TorchContainer::legacy);
    CHECK(opened.record("w"));
  }
}

TEST_CASE("LT08: bytes behind the last storage") {
  const Opened opened(torch_legacy(one_tensor({}), pickled::list({pickled::text("0")}),
                                   little(4, 8) + kStorage + "tail"));
  CHECK(opened.warning("4 bytes follow the last storage"));
  CHECK(opened.finding("4 bytes follow")->where->offset == opened.source->size() - 4);
  CHECK(opened.state.bytes_unclaimed == 4);
}

}  // namespace
}  // namespace ttcheck::formats
