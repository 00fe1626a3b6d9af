// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/inflate.hpp"

#include <doctest/doctest.h>

#include <string>

#include "formats/bytes/zip.hpp"
#include "tests/support/memory_source.hpp"
#include "tests/support/pickle_writer.hpp"
#include "tests/support/zip_writer.hpp"

namespace ttcheck::formats {
namespace {

TEST_CASE("H12 H13 a large deflated member is read backwards at the cost of a block") {
  constexpr std::size_t kSize = std::size_t{11} << 20;
  std::string text;
  text.reserve(kSize + 16);
  for (std::uint32_t i = 0; text.size() < kSize; ++i) text += std::to_string(i * 2654435761U);
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

}  // namespace
}  // namespace ttcheck::formats
