// SPDX-License-Identifier: Apache-2.0
// Archives that zipfile or torch refuse: never passed over.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/support/opened_zip.hpp"

namespace ttcheck::formats {
namespace {

using tests::little;
using tests::patched;
using tests::ZipWriter;
using Opened = tests::OpenedZip;

constexpr std::size_t kCentralFlags = 8, kCentralAttributes = 38;

TEST_CASE("ZP: what zipfile refuses is said: a directory elsewhere, a version that is none") {
  const ZipWriter made = tests::plain_zip();
  const std::string& bytes = made.bytes;
  const std::size_t end = bytes.rfind("PK\5\6");
  CHECK(Opened(patched(bytes, end + 16, little(0xffff00, 4)))
            .says("places the directory at 16776960", Severity::error));
  CHECK(Opened(patched(bytes, made.places[0].central + 6, little(255, 1)))
            .says("version 25.5", Severity::error));
  CHECK(Opened(patched(bytes, made.places[0].central + 7, little(255, 1))).zip.findings().empty());
}

TEST_CASE("ZP: what torch's reader refuses, or reads as nothing, is said") {
  const ZipWriter made = tests::plain_zip();
  const std::size_t entry = made.places[1].central;
  CHECK(Opened(patched(made.bytes, entry + kCentralAttributes, "\x10"))
            .says("marked as a directory", Severity::error));
  CHECK(Opened(patched(made.bytes, entry + kCentralFlags, little(0x2000, 2)))
            .says("flagged as encrypted", Severity::error));
  ZipWriter wide;
  wide.add("a", "b");
  wide.finish(true);
  CHECK(Opened(patched(wide.bytes, wide.end - 12, little(7, 8)))
            .says("the zip64 locator places its record at 7", Severity::error));
}

TEST_CASE("ZP23: a disk number") {
  const ZipWriter made = tests::plain_zip();
  CHECK(Opened(patched(made.bytes, made.end + 4, little(2, 2)))
            .says("several disks", Severity::error));
  CHECK(Opened(patched(made.bytes, made.places[0].central + 34, little(2, 2)))
            .says("another disk", Severity::error));
}

TEST_CASE("S10 members that share bytes are read as long as they claim the file twice at most") {
  ZipWriter made;
  made.add("a", std::string(1000, 'x'));
  made.finish();
  const std::string body = made.bytes.substr(0, made.directory);
  const std::string entry = made.bytes.substr(made.directory, made.end - made.directory);
  std::string directory, end = made.bytes.substr(made.end);
  constexpr std::size_t kEntries = 9;
  for (std::size_t i = 0; i < kEntries; ++i) directory += entry;
  end = patched(end, 8, little(kEntries, 2) + little(kEntries, 2) + little(directory.size(), 4));
  const Opened opened(body + directory + end);
  REQUIRE(opened.zip.members().size() == kEntries);
  const auto read = std::ranges::count_if(
      opened.zip.members(), [](const ZipMember& member) { return member.problem.empty(); });
  CHECK(read == 2);  // of 1,000 bytes each, in a file of 1.5 thousand
  CHECK(opened.says("claim more than 2 times the file", Severity::error));
  CHECK_THROWS_AS(opened.zip.source(kEntries - 1), Error);
}

}  // namespace
}  // namespace ttcheck::formats
