// SPDX-License-Identifier: Apache-2.0
#include "core/base/digest.hpp"

#include <doctest/doctest.h>

namespace ttcheck {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST_CASE("parts have the digest of the whole") {
  // The first is XXH3_64bits of nothing (xxHash's specification); xxhsum -H3 gave the others.
  CHECK(Digest().value() == 0x2d06800538d394c2U);
  CHECK(digest_of("") == 0x2d06800538d394c2U);
  Digest digest;
  digest.add(bytes_of("ab"));
  digest.add({});
  digest.add(bytes_of("c"));
  CHECK(digest.value() == digest_of("abc"));
  CHECK(digest.value() == 0x78af5f94892f3950U);
}

TEST_CASE("a text that is too long is its length and digest") {
  CHECK(shortened("abc", 3) == "abc");
  CHECK(shortened("abc", 2) == "3 characters, xxh3 78af5f94892f3950");
}

}  // namespace
}  // namespace ttcheck
