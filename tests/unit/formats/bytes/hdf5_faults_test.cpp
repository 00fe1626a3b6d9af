// SPDX-License-Identifier: Apache-2.0
// HDF5: links and elements that are longer than they may be, and damage beside a limit.

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "formats/bytes/hdf5.hpp"
#include "tests/support/memory_source.hpp"
#include "tests/support/pickle_writer.hpp"
#include "tests/support/project_file.hpp"

namespace ttcheck::formats {
namespace {

using tests::little;
using tests::MemorySource;
using namespace std::string_literals;

const Hdf5Dataset& dataset(const Hdf5Contents& contents, std::string_view path) {
  const auto found = std::ranges::find(contents.datasets, path, &Hdf5Dataset::path);
  REQUIRE(found != contents.datasets.end());
  return *found;
}

std::string file_bytes(const std::string& name) {
  const std::vector<std::byte> bytes = tests::project_bytes(name);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A root group with one external link, in the earliest file format but for the messages that new
/// groups have.
std::string with_link(const std::string& file, const std::string& object) {
  constexpr std::uint64_t kHeader = 96, kPrefix = 16;
  const auto message = [](int type, std::string data) {
    data.resize((data.size() + 7) / 8 * 8, '\0');
    return little(static_cast<std::uint64_t>(type), 2) + little(data.size(), 2) + "\0\0\0\0"s +
           data;
  };
  const std::string value = "\0"s + file + "\0"s + object + "\0"s;
  const std::string nowhere = little(UINT64_MAX, 8);
  const std::string messages = message(2, "\0\0"s + nowhere + nowhere) +
                               message(6, "\1\x08\x40\1x"s + little(value.size(), 2) + value);
  std::string out = "\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0"s + little(4, 2) + little(16, 2) +
                    little(0, 4) + little(0, 8) + nowhere +
                    little(kHeader + kPrefix + messages.size(), 8) + nowhere + little(0, 8) +
                    little(kHeader, 8) + std::string(24, '\0');
  out += "\1\0"s + little(2, 2) + little(1, 4) + little(messages.size(), 4) + little(0, 4);
  return out + messages;
}

std::string message_of_link(const std::string& file, const std::string& object) {
  const Hdf5Contents contents =
      read_hdf5(MemorySource(tests::to_bytes(with_link(file, object))), {});
  REQUIRE(contents.findings.size() == 1);
  REQUIRE(contents.findings[0].where);
  CHECK(contents.findings[0].where->object == "x");
  return contents.findings[0].message;
}

TEST_CASE("an external link of any length is named as far as 16 KiB go, and nothing behind it") {
  CHECK(
      message_of_link("a.h5", "/w").starts_with("link to /w in another file, a.h5, not followed"));
  CHECK(message_of_link("a.h5", "/" + std::string(16'000, 'o')).starts_with("link to /ooo"));
  for (const std::size_t length : {16'384U, 20'000U, 60'000U}) {
    CHECK(message_of_link("a.h5", "/" + std::string(length, 'o'))
              .starts_with("link to an object outside of this file, not followed"));
    CHECK(message_of_link(std::string(length, 'f'), "/w")
              .starts_with("link to an object outside of this file, not followed"));
  }
}

TEST_CASE("a damaged attribute of a dataset that is not supported is said beside it, as damage") {
  std::string bytes = file_bytes("tests/data/hdf5/earliest.h5");
  constexpr std::size_t kName = 8;  // behind the filter's number
  std::size_t changed = 0;
  for (std::size_t at = bytes.find("shuffle\0"s); at != std::string::npos;
       at = bytes.find("shuffle\0"s, at + 1)) {
    if (bytes.compare(at - kName, 4, "\2\0\x08\0"s) != 0) continue;
    bytes.replace(at - kName, 2, little(300, 2));
    ++changed;
  }
  REQUIRE(changed >= 2);
  const Hdf5Contents contents = read_hdf5(MemorySource(tests::to_bytes(bytes)), "ttcheck");
  const Hdf5Dataset& alone = dataset(contents, "storage/shuffle");
  CHECK(alone.problem == "unsupported HDF5 filter 300");
  CHECK(alone.unsupported);
  const Hdf5Dataset& both = dataset(contents, "storage/all");
  CHECK(both.problem == "unsupported HDF5 filter 300; attribute ttcheck is no single string");
  CHECK_FALSE(both.unsupported);
}

TEST_CASE("a single text or list of any length is held to 16 MiB before it is made") {
  const std::string whole = file_bytes("tests/data/hdf5/earliest.h5");
  const std::size_t words = whole.find("words");
  REQUIRE(words != std::string::npos);
  const std::size_t heap = whole.rfind("GCOL", words);
  REQUIRE(heap != std::string::npos);
  const std::size_t element = whole.find(little(5, 4) + little(heap, 8));
  REQUIRE(element != std::string::npos);
  const std::string text = "\x19\1\1\0\x10\0\0\0"s;  // the type: of any length, in UTF-8
  const std::size_t type = whole.rfind(text, words);
  REQUIRE(type != std::string::npos);
  for (const bool list : {false, true}) {
    CAPTURE(list);
    std::string bytes = whole;
    if (list) bytes.replace(type + 1, 2, "\0\0"s);  // of bytes, as text is
    const Hdf5Contents short_one = read_hdf5(MemorySource(tests::to_bytes(bytes)), {});
    CHECK(dataset(short_one, "types/text").shape == Shape{8 + 5});  // the size, and "words"
    bytes.replace(element, 4, little(std::uint64_t{20} << 20, 4));
    const Hdf5Contents contents = read_hdf5(MemorySource(tests::to_bytes(bytes)), {});
    const Hdf5Dataset& set = dataset(contents, "types/text");
    CHECK(set.source == nullptr);
    CHECK(set.problem.find("elements") != std::string::npos);
    CHECK(dataset(contents, "types/f4").problem.empty());
  }
}

}  // namespace
}  // namespace ttcheck::formats
