// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/inflate.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>

#include "formats/bytes/zip.hpp"
#include "tests/support/interrupted_source.hpp"
#include "tests/support/memory_source.hpp"
#include "tests/support/pickle_writer.hpp"
#include "tests/support/zip_writer.hpp"

namespace ttcheck::formats {
namespace {

/// Digits that deflate about to the half, and never repeat.
std::string digits(std::size_t size) {
  std::string text;
  text.reserve(size + 16);
  for (std::uint32_t i = 0; text.size() < size; ++i) text += std::to_string(i * 2654435761U);
  return text;
}

TEST_CASE("H12 H13 a large deflated member is read backwards at the cost of a block") {
  const std::string text = digits(std::size_t{11} << 20);
  tests::ZipWriter made;
  made.add("n", text, {true, false, false, ""});
  const tests::MemorySource file(tests::to_bytes(made.finish()), "a.zip");
  const Zip zip(file);
  const Source& source = zip.source(0);
  const auto read = [&](std::size_t at, std::size_t count) {
    std::string part(count, '\0');
    source.read(at, std::as_writable_bytes(std::span(part)));
    return part == text.substr(at, count);
  };
  CHECK(read(0, 100));
  CHECK(read(text.size() - 7, 7));
  for (std::size_t at = text.size(); at > 50'000;) {
    at -= 49'999;
    CHECK(read(at, 49'999));
  }
  CHECK(read((std::size_t{4} << 20) - 3, 6));  // over the end of a block
  CHECK(read(1, text.size() - 1));
  CHECK(read(0, text.size()));
}

/// A deflated member whose packed bytes cannot be read from some place on, and a check of reads.
struct Interrupted {
  explicit Interrupted(std::string content) : text(std::move(content)) {
    tests::ZipWriter made;
    made.add("n", text, {true, false, false, ""});
    const std::string bytes = made.finish();
    begin = made.places[0].data;
    packed = made.places[0].packed;
    file.emplace(tests::to_bytes(bytes));
    source.emplace(*file, begin, packed, text.size(), "n");
  }
  bool read(std::size_t at, std::size_t count) const {
    std::string part(count, '\0');
    source->read(at, std::as_writable_bytes(std::span(part)));
    return part == text.substr(at, count);
  }

  std::string text;
  std::size_t begin = 0, packed = 0;
  std::optional<tests::InterruptedSource> file;
  std::optional<Inflate> source;
};

TEST_CASE("a block on the way that fails is not taken for the one that was held before it") {
  Interrupted made(digits(std::size_t{11} << 20));
  for (int i = 0; i < 6; ++i) CHECK(made.read(0, 100));       // blocks are kept from here on
  made.file->fails_from = made.begin + made.packed / 11 * 6;  // within the second block of three
  CHECK_THROWS_AS(static_cast<void>(made.read(std::size_t{9} << 20, 100)), Error);
  CHECK(made.read(0, 100));
  CHECK(made.read(1'000'000, 100));
  made.file->fails_from.reset();
  CHECK(made.read(std::size_t{9} << 20, 100));
}

TEST_CASE("a read on behind one that failed gives the bytes that stand there") {
  Interrupted made(digits(1'000'000));
  CHECK(made.read(0, 100));
  made.file->fails_from = made.begin + 100'000;
  CHECK_THROWS_AS(static_cast<void>(made.read(100, 400'000)), Error);
  made.file->fails_from.reset();
  CHECK(made.read(400'100, 100));
  CHECK(made.read(500'000, 500'000));
}

}  // namespace
}  // namespace ttcheck::formats
