#include "formats/bytes/crc32.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

namespace ttcheck::formats {
namespace {

/// Bit by bit, as the polynomial says.
std::uint32_t slow(std::uint32_t crc, std::span<const std::byte> bytes) {
  crc = ~crc;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

std::vector<std::byte> noise(std::size_t count) {
  std::vector<std::byte> bytes(count);
  std::uint32_t state = 7;
  for (std::byte& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

TEST_CASE("the sum of any length from any state is that of the polynomial") {
  CHECK(crc32_of(0, std::as_bytes(std::span(std::string_view("123456789")))) == 0xcbf43926);
  const auto bytes = noise(400);
  for (std::size_t begin = 0; begin < 3; ++begin) {
    for (std::size_t size = 0; begin + size <= bytes.size(); ++size) {
      const auto part = std::span(bytes).subspan(begin, size);
      CAPTURE(size);
      REQUIRE(crc32_of(0, part) == slow(0, part));
      REQUIRE(crc32_of(0xdeadbeef, part) == slow(0xdeadbeef, part));
    }
  }
  const auto many = noise((1 << 16) + 13);
  CHECK(crc32_of(1, many) == slow(1, many));
}

TEST_CASE("sums of two runs make the sum of both") {
  const auto bytes = noise(1000);
  const auto all = std::span(bytes);
  for (const std::size_t cut : {0U, 1U, 64U, 500U, 999U, 1000U}) {
    const std::uint32_t second = crc32_of(0, all.subspan(cut));
    CHECK(crc32_joined(crc32_of(0, all.first(cut)), second, 1000 - cut) == slow(0, all));
  }
}

}  // namespace
}  // namespace ttcheck::formats
