// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/zstd.hpp"

#include <doctest/doctest.h>
#include <zstd.h>

#include <string>
#include <vector>

#include "tests/support/interrupted_source.hpp"

namespace ttcheck::formats {
namespace {

std::vector<std::byte> packed(const std::string& text) {
  std::vector<std::byte> out(ZSTD_compressBound(text.size()));
  const std::size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
  REQUIRE(ZSTD_isError(size) == 0);
  out.resize(size);
  return out;
}

TEST_CASE("zstd: a read on behind one that failed gives the bytes that stand there") {
  std::string text;
  for (std::uint32_t i = 0; text.size() < 1'500'000; ++i) text += std::to_string(i * 2654435761U);
  tests::InterruptedSource file(packed(text));
  const Zstd source(file, text.size(), "n");
  CHECK(source.size() == text.size());
  const auto read = [&](std::size_t at, std::size_t count) {
    std::string part(count, '\0');
    source.read(at, std::as_writable_bytes(std::span(part)));
    return part == text.substr(at, count);
  };
  CHECK(read(100'000, 100));
  file.fails_from = file.size() / 2;
  CHECK_THROWS_AS(static_cast<void>(read(100'100, 1'000'000)), Error);
  file.fails_from.reset();
  CHECK(read(1'100'100, 100));
  CHECK(read(1'200'000, 200'000));
  CHECK(read(100'000, 1'400'000));
}

}  // namespace
}  // namespace ttcheck::formats
