// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/zip.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "core/base/parallel.hpp"
#include "tests/support/memory_source.hpp"
#include "tests/support/opened_zip.hpp"
#include "tests/support/pickle_writer.hpp"

namespace ttcheck::formats {
namespace {

using tests::little;
using tests::MemorySource;
using tests::patched;
using tests::ZipWriter;
using Opened = tests::OpenedZip;

constexpr std::size_t kCentralFlags = 8, kCentralMethod = 10, kCentralCrc = 16, kCentralPacked = 20,
                      kCentralSize = 24, kCentralHeader = 42, kCentralName = 46;
constexpr std::size_t kLocalMethod = 8, kLocalCrc = 14, kLocalName = 30;

TEST_CASE("members are found, in all the ways of writing sizes") {
  for (const bool descriptor : {false, true}) {
    for (const bool zip64 : {false, true}) {
      for (const bool deflate : {false, true}) {
        ZipWriter made;
        made.add("x/a", "hello hello hello", {deflate, descriptor, zip64, ""});
        made.add("x/empty", "");
        const Opened opened(made.finish(zip64));
        REQUIRE(opened.zip.members().size() == 2);
        CHECK(opened.content(0) == "hello hello hello");
        CHECK(opened.content(1).empty());
        CHECK(opened.zip.findings().empty());
        CHECK(opened.zip.unclaimed() == 0);
        CHECK(opened.zip.source(0).sequential() == deflate);
        CHECK(opened.zip.find("x/a") == std::size_t{0});
        CHECK(!opened.zip.find("x/b"));
        CHECK(check_crc(opened.zip, 1000).empty());
      }
    }
  }
}

TEST_CASE("a deflated member reads at any offset, in any order") {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i);
  ZipWriter made;
  made.add("n", text, {true, false, false, ""});
  const Opened opened(made.finish());
  for (const std::size_t at :
       {std::size_t{200'000}, std::size_t{0}, std::size_t{70'000}, text.size() - 10}) {
    std::string part(10, '\0');
    opened.zip.source(0).read(at, std::as_writable_bytes(std::span(part)));
    CHECK(part == text.substr(at, 10));
  }
  CHECK(opened.zip.source(0).where(5).file == "a.zip");
}

TEST_CASE("ZP01: local and central name differ: both places are told") {
  const ZipWriter made = tests::plain_zip();
  const Opened opened(patched(made.bytes, made.places[1].header + kLocalName, "b"));
  CHECK(opened.says("name in the local header and in the directory's entry at " +
                        std::to_string(made.places[1].central),
                    Severity::error));
  CHECK(opened.zip.findings().at(0).where->offset == made.places[1].header);
  CHECK(opened.zip.find("a/two") == std::size_t{1});
  CHECK(opened.content(1) == "second member");
}

TEST_CASE("ZP02: local and central method, size or CRC differ") {
  const ZipWriter made = tests::plain_zip();
  CHECK(Opened(patched(made.bytes, made.places[0].header + kLocalMethod, little(8, 2)))
            .says("method in the local"));
  CHECK(Opened(patched(made.bytes, made.places[0].header + kLocalCrc, "XXXX"))
            .says("crc in the local"));
  CHECK(Opened(patched(made.bytes, made.places[0].central + kCentralSize, little(4, 4)))
            .says("size in the local"));
}

TEST_CASE("ZP03: a wrong CRC is TT502, and the bytes are read all the same") {
  const ZipWriter made = tests::plain_zip();
  const Opened opened(patched(made.bytes, made.places[1].data, "S"));
  CHECK(opened.content(1) == "Second member");
  const auto found = check_crc(opened.zip, 10'000);
  REQUIRE(found.size() == 1);
  CHECK(found[0].code == Code::checksum);
  CHECK(found[0].severity == Severity::error);
  CHECK(found[0].where->offset == made.places[1].data);
}

TEST_CASE("checksums: none written, all wrong, beyond the budget") {
  ZipWriter made = tests::plain_zip();
  std::string none = made.bytes;
  std::string junk = made.bytes;
  for (const auto& place : made.places) {
    none = patched(none, place.central + kCentralCrc, std::string(4, '\0'));
    junk = patched(junk, place.central + kCentralCrc, "JUNK");
  }
  CHECK(check_crc(Opened(none).zip, 10'000).empty());
  const auto found = check_crc(Opened(junk).zip, 10'000);
  REQUIRE(found.size() == 3);
  for (const Finding& finding : found) {
    CHECK(finding.code == Code::checksum);
    CHECK(finding.severity == Severity::error);
  }
  const auto some = check_crc(Opened(junk).zip, 20);
  REQUIRE(some.size() == 3);
  CHECK(some[1].severity == Severity::error);
  CHECK(some[2].severity == Severity::note);
  CHECK(some[2].message.find("1 members with 5000 bytes were not verified") != std::string::npos);
  // Bytes that do not inflate are told beside checksums that are all wrong.
  const auto broken =
      check_crc(Opened(patched(junk, made.places[2].data, "\xff\xff\xff")).zip, 10'000);
  REQUIRE(broken.size() == 3);
  CHECK(broken[2].code == Code::unreadable);
}

/// Notes who reads.
class WatchedSource final : public Source {
 public:
  explicit WatchedSource(const Source& bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    {
      const std::lock_guard hold(mutex_);
      readers.insert(std::this_thread::get_id());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    bytes_.read(offset, out);
  }
  Where where(std::uint64_t offset) const override { return bytes_.where(offset); }

  mutable std::set<std::thread::id> readers;

 private:
  const Source& bytes_;
  mutable std::mutex mutex_;
};

TEST_CASE("few bytes are summed without other threads, in however many members they lie") {
  ZipWriter made;
  for (int i = 0; i < 40; ++i) made.add(fmt::format("a/{}", i), "some bytes");
  const MemorySource bytes(tests::to_bytes(made.finish()), "a.zip");
  const WatchedSource source(bytes);
  const Zip zip(source);
  REQUIRE(zip.members().size() == 40);
  set_threads(4);
  CHECK(check_crc(zip, 10'000).empty());
  set_threads(0);
  CHECK(source.readers.size() == 1);
}

/// Counts the bytes that are read.
struct Counted final : Source {
  explicit Counted(const std::string& text) : inner(tests::to_bytes(text), "a.zip") {}
  std::uint64_t size() const override { return inner.size(); }
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    count += out.size();
    inner.read(offset, out);
  }
  Where where(std::uint64_t offset) const override { return inner.where(offset); }
  MemorySource inner;
  mutable std::uint64_t count = 0;
};

TEST_CASE("members whose sizes follow them are found again in one pass") {
  ZipWriter made;
  for (int i = 0; i < 5000; ++i) made.add("m", "x", {false, true, false, ""});
  const Counted source(made.bytes);
  const Zip zip(source);
  CHECK(zip.recovered());
  CHECK(zip.members().size() == 5000);
  CHECK(source.count < 20 * made.bytes.size());
}

TEST_CASE("ZP04: several end records, end record in the comment, comment length that lies") {
  ZipWriter made = tests::plain_zip();
  const std::string end = made.bytes.substr(made.end);
  CHECK(Opened(made.bytes + end).says("2 end records"));
  const std::string inside =
      patched(made.bytes, made.end + 20, little(end.size(), 2)) + end;  // whole comment: a record
  CHECK(Opened(inside).says("2 end records"));
  CHECK(Opened(inside).content(1) == "second member");
  CHECK(Opened(made.bytes + std::string(100, 'j')).says("100 bytes follow the end"));
  CHECK(Opened(made.bytes + std::string(100, 'j')).zip.unclaimed() == 100);
  CHECK(Opened(patched(made.bytes, made.end + 20, little(7, 2)))
            .says("comment claims 7 bytes, 0 left"));
}

TEST_CASE("ZP05: zip64 and plain end record contradict each other") {
  ZipWriter made;
  made.add("a", "b");
  made.finish(true);
  CHECK(Opened(made.bytes).zip.findings().empty());
  CHECK(
      Opened(patched(made.bytes, made.end + 10, little(9, 2))).says("contradict", Severity::error));
  constexpr std::size_t kLocator = 20, kRecord = kLocator + 56;  // before the plain end record
  CHECK(Opened(patched(made.bytes, made.end - kLocator + 8, little(3, 8))).zip.members().size() ==
        1);
  CHECK(Opened(patched(made.bytes, made.end - kRecord + 4, little(400, 8)))
            .says("contradict", Severity::error));
  CHECK(Opened(patched(made.bytes, made.end - kRecord + 32, little(2, 8)))
            .says("contradict", Severity::error));
}

TEST_CASE("ZP06, ZP19: the claimed number of entries is only compared") {
  const ZipWriter made = tests::plain_zip();
  const Opened opened(patched(made.bytes, made.end + 8, "\xff\xfe\xff\xfe"));
  CHECK(opened.zip.members().size() == 3);
  CHECK(opened.says("claims 65279 entries, 3 are there", Severity::error));
  ZipWriter wide;  // more members than 16 bits count, without zip64
  for (int i = 0; i < 65'538; ++i) wide.add("m" + std::to_string(i), "");
  const Opened modulo(wide.finish());
  CHECK(modulo.zip.members().size() == 65'538);
  CHECK(modulo.says("claims 2 entries, 65538 are there", Severity::error));
}

TEST_CASE("ZP07: bytes in front of the archive move all offsets once") {
  const ZipWriter made = tests::plain_zip();
  const Opened opened("#!/bin/sh\n" + made.bytes);
  CHECK(opened.says("10 bytes precede"));
  CHECK(opened.content(1) == "second member");
}

TEST_CASE("of archives behind each other the last is read, though its offsets are another's, too") {
  std::string file;
  for (const char* content : {"one", "two", "six"}) {
    ZipWriter made;
    made.add("m", content);
    file += made.finish();
  }
  const Opened opened(file);
  CHECK(opened.says(std::to_string(file.size() / 3 * 2) + " bytes precede"));
  CHECK(opened.content(0) == "six");
  CHECK(opened.zip.members()[0].problem.empty());
}

TEST_CASE("ZP08: a member that the directory leaves out is noticed") {
  ZipWriter made;
  made.add("a", "seen");
  ZipWriter hidden;
  hidden.add("h", "hidden");
  made.bytes += hidden.bytes;
  const Opened opened(made.finish());
  CHECK(opened.zip.members().size() == 1);
  CHECK(opened.says("does not list"));
  CHECK(opened.zip.unclaimed() == hidden.places[0].data + 6);
}

TEST_CASE("ZP09, ZP10: duplicate and odd names are named, and never become paths") {
  using namespace std::string_literals;
  ZipWriter made;
  const std::vector<std::string> odd = {"../b",   "a//b", "/c",    "d\\e", "./f",
                                        "a/../g", "C:h",  "i\0j"s, ""};
  made.add("a", "x");
  made.add("a", "y");
  made.add("A", "z");
  made.add("\xff\xfe", "bytes");
  for (const std::string& name : odd) made.add(name, "x");
  const Opened opened(made.finish());
  CHECK(opened.says("several members have this name; the last one is used"));
  CHECK(opened.says("another member has this name in other case"));
  CHECK(std::count_if(opened.zip.findings().begin(), opened.zip.findings().end(),
                      [](const Finding& finding) {
                        return finding.message.find("no plain relative path") != std::string::npos;
                      }) == static_cast<std::ptrdiff_t>(odd.size()));
  CHECK(opened.zip.find("a") == std::size_t{1});
  CHECK(opened.zip.find("A") == std::size_t{2});
  CHECK(opened.zip.find("\xff\xfe") == std::size_t{3});
}

TEST_CASE("ZP11: a member marked as a link is data") {
  const ZipWriter made = tests::plain_zip();
  const Opened opened(patched(made.bytes, made.places[0].central + 38, little(0xa1ff0000, 4)));
  CHECK(opened.says("link or device"));
  CHECK(opened.content(0) == "first");
}

TEST_CASE("ZP12: an encryption flag in one header only") {
  const ZipWriter made = tests::plain_zip();
  const Opened opened(patched(made.bytes, made.places[0].central + kCentralFlags, little(1, 2)));
  CHECK(opened.says("encryption flag in the local header"));
  CHECK(opened.content(0) == "first");
}

TEST_CASE("ZP13: archives within an archive are bytes like any others") {
  ZipWriter inner;
  for (int i = 0; i < 16; ++i)
    inner.add(std::to_string(i), std::string(1'000'000, '\0'), {true, false, false, ""});
  const std::string bytes = inner.finish();
  ZipWriter outer;
  for (int i = 0; i < 16; ++i) outer.add(std::to_string(i) + ".zip", bytes);
  const Opened opened(outer.finish());
  REQUIRE(opened.zip.members().size() == 16);
  CHECK(opened.zip.findings().empty());
  CHECK(opened.zip.source(3).size() == opened.zip.members()[3].size);
  CHECK(opened.content(0) == bytes);
}

TEST_CASE("ZP14: overlapping and quoted members, and the harmless overlap of a byte") {
  const ZipWriter made = tests::plain_zip();
  const auto& one = made.places[0];
  const std::string over =
      patched(made.bytes, one.central + kCentralPacked, little(40, 4) + little(40, 4));
  CHECK(Opened(over).says("overlaps the one before it by", Severity::error));
  // one member whose data quote the header of the next, as bombs do; the next is still read
  const std::uint64_t quoting = made.places[1].data + made.places[1].packed - one.data;
  const Opened quoted(
      patched(made.bytes, one.central + kCentralPacked, little(quoting, 4) + little(quoting, 4)));
  CHECK(quoted.says("overlaps the one before it by", Severity::error));
  CHECK(quoted.content(1) == "second member");
  CHECK(quoted.zip.source(0).size() == quoting);
  const std::string slight =
      patched(made.bytes, one.central + kCentralPacked, little(6, 4) + little(6, 4));
  CHECK(
      Opened(slight).says("overlaps", Severity::error));  // its own header says that it is shorter
  constexpr std::size_t kLocalPacked = 18;
  CHECK(!Opened(patched(slight, one.header + kLocalPacked, little(6, 4) + little(6, 4)))
             .says("overlaps"));
}

TEST_CASE("ZP15, ZP16: deflate data longer or shorter than declared, and broken") {
  const ZipWriter made = tests::plain_zip();
  const auto& three = made.places[2];
  const auto sized = [&](std::uint64_t size) {
    return patched(made.bytes, three.central + kCentralSize, little(size, 4));
  };
  CHECK_THROWS_WITH_AS(Opened(sized(100)).content(2),
                       doctest::Contains("goes on after the declared 100"), Error);
  CHECK_THROWS_WITH_AS(Opened(sized(6000)).content(2), doctest::Contains("ends after 5000 bytes"),
                       Error);
  std::string there(5000, ' ');  // what was produced exists, the rest does not
  const Opened longer(sized(6000));
  longer.zip.source(2).read(0, std::as_writable_bytes(std::span(there)));
  CHECK(there == std::string(5000, 'x'));
  const std::string cut =
      patched(made.bytes, three.central + kCentralPacked, little(three.packed - 2, 4));
  CHECK_THROWS_AS(Opened(cut).content(2), Error);
  const std::string far = patched(made.bytes, three.data, "\x03\x3e\x00");  // a distance too far
  CHECK_THROWS_AS(Opened(far).content(2), Error);
  CHECK_THROWS_WITH_AS(Opened(patched(made.bytes, three.data, "\xff\xff\xff")).content(2),
                       doctest::Contains("bad deflate data"), Error);
}

TEST_CASE("ZP17, S3: a thousand to one is honest, wherever reads end") {
  constexpr std::size_t kHead = 128, kBlock = std::size_t{1} << 20;  // as of npy files
  std::size_t wrong = 0;
  for (std::size_t size = 1 << 10; size <= (1 << 25); size *= 2) {
    for (const int values : {1, 7}) {
      CAPTURE(size);
      CAPTURE(values);
      std::string data(kHead + size, '\0');
      for (std::size_t i = kHead; i < data.size(); ++i) {
        data[i] = static_cast<char>(i / 4 % static_cast<std::size_t>(values));
      }
      ZipWriter made;
      made.add("a.npy", data, {true, false, false, ""});
      const Opened opened(made.finish());
      if (size == (1 << 25)) CHECK(made.places[0].packed < size / 200);
      const Source& source = opened.zip.source(0);
      std::string part;
      for (std::size_t at = 0; at < data.size(); at += part.size()) {
        part.resize(std::min(kBlock, data.size() - at));  // of the last one, kHead bytes
        source.read(at, std::as_writable_bytes(std::span(part)));
        if (std::string_view(data).substr(at, part.size()) != part) ++wrong;
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("ZP18: cut at every byte, members are found by their local headers") {
  ZipWriter made;
  made.add("x/a", "0123456789", {false, true, false, ""});
  made.add("x/b", "abcdefghij");
  made.finish(true);
  for (std::size_t cut = 4; cut < made.bytes.size(); ++cut) {
    try {
      const Opened opened(made.bytes.substr(0, cut));
      CHECK(opened.zip.recovered());
      CHECK(opened.says("truncated", Severity::error));
      CHECK(opened.zip.findings().back().where->file == "a.zip");
      if (cut > made.places[1].header) CHECK(opened.content(0) == "0123456789");
    } catch (const Error& error) {
      CHECK(error.where().file == "a.zip");
      CHECK(cut <= made.places[0].data);
    }
  }
}

TEST_CASE("ZP20: a method that is not known makes that member unreadable") {
  const ZipWriter made = tests::plain_zip();
  for (const std::uint64_t method : {1U, 14U, 93U, 95U, 97U, 0xffffU}) {
    const Opened opened(
        patched(made.bytes, made.places[0].central + kCentralMethod, little(method, 2)));
    CHECK(opened.says("unsupported method " + std::to_string(method), Severity::warning));
    CHECK_THROWS_AS(opened.zip.source(0), Error);
    CHECK(opened.content(1) == "second member");
  }
}

TEST_CASE("ZP21: an extra field that runs over its end, or repeats") {
  ZipWriter made;
  made.add("n", "data", {false, false, true, ""});
  made.finish(true);
  const std::size_t extra = made.places[0].central + kCentralName + 1;
  CHECK(Opened(patched(made.bytes, extra + 2, little(500, 2))).says("runs over its end"));
  CHECK(Opened(patched(made.bytes, extra + 2, little(4, 2))).says("too short"));
  const std::string twice = little(1, 2) + little(0, 2) + little(1, 2) + little(0, 2);
  ZipWriter again;
  again.add("n", "data", {false, false, false, twice});
  CHECK(Opened(again.finish()).says("zip64 extra field is there twice"));
  CHECK(Opened(again.bytes).content(0) == "data");
}

TEST_CASE("ZP22: comments are stepped over and never shown") {
  ZipWriter made;
  made.add("n", "data");
  made.finish();
  constexpr std::size_t kCommentSize = 32;  // of an entry of the directory
  std::string of_member = patched(made.bytes, made.places[0].central + kCommentSize, little(4, 2));
  of_member.insert(made.end, "\x1b[2J");
  of_member = patched(of_member, made.end + 4 + 12, little(made.end + 4 - made.directory, 4));
  CHECK(Opened(of_member).content(0) == "data");
  CHECK(Opened(of_member).zip.findings().empty());
  std::string comment;
  while (comment.size() < 65'535) comment += "\x1b]0;x\a";
  comment.resize(65'535);
  const std::string whole = patched(made.bytes, made.end + 20, little(65'535, 2)) + comment;
  CHECK(Opened(whole).content(0) == "data");
  CHECK(Opened(whole).zip.findings().empty());
  CHECK(Opened(whole).zip.unclaimed() == 0);
}

TEST_CASE("ZP24, ZP25: offsets and sizes that point outside") {
  const ZipWriter made = tests::plain_zip();
  const std::size_t field = made.places[0].central + kCentralHeader;
  for (const std::uint64_t offset : {std::uint64_t{made.directory}, std::uint64_t{0xfffffff0}}) {
    const Opened opened(patched(made.bytes, field, little(offset, 4)));
    CHECK_THROWS_AS(opened.zip.source(0), Error);
    CHECK(opened.content(1) == "second member");
  }
  ZipWriter wide;
  wide.add("n", "data", {false, false, true, ""});
  wide.finish(true);
  const std::size_t extra = wide.places[0].central + kCentralName + 1;
  const Opened opened(patched(wide.bytes, extra + 4, little(4 + (std::uint64_t{1} << 32), 8)));
  CHECK_THROWS_AS(opened.zip.source(0), Error);
}

TEST_CASE("ZP26: many members take linear time") {
  ZipWriter made;
  for (int i = 0; i < 100'000; ++i) made.add("m/" + std::to_string(i), "x");
  const Opened opened(made.finish(true));
  CHECK(opened.zip.members().size() == 100'000);
  CHECK(opened.zip.find("m/99999") == std::size_t{99'999});
}

}  // namespace
}  // namespace ttcheck::formats
