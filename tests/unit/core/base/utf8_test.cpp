// SPDX-License-Identifier: Apache-2.0
#include "core/base/utf8.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace ttcheck {
namespace {

/// Table 3-7 of Unicode: the bytes that a sequence may have after each lead.
struct Sequence {
  int lead_from, lead_to;
  int second_from, second_to;
  std::size_t length;
};

constexpr Sequence kSequences[] = {
    {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
    {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
    {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

/// The length that the table gives `bytes`; 0: it is not well-formed.
std::size_t length_by_table(const std::vector<int>& bytes) {
  const auto continues = [&](std::size_t at, int from, int to) {
    return bytes.size() > at && bytes[at] >= from && bytes[at] <= to;
  };
  for (const Sequence& row : kSequences) {
    if (!continues(0, row.lead_from, row.lead_to)) continue;
    if (row.length > 1 && !continues(1, row.second_from, row.second_to)) return 0;
    for (std::size_t i = 2; i < row.length; ++i) {
      if (!continues(i, 0x80, 0xBF)) return 0;
    }
    return row.length;
  }
  return 0;
}

std::string text_of(const std::vector<int>& bytes) {
  std::string text;
  for (const int byte : bytes) text += static_cast<char>(byte);
  return text;
}

TEST_CASE("what is well-formed is what the table of Unicode lists") {
  const std::vector<int> edges = {0x00, 0x7F, 0x80, 0xBF, 0xC0, 0xFF};
  std::size_t wrong = 0;
  std::vector<int> first_wrong;
  const auto look = [&](const std::vector<int>& bytes) {
    const auto found = first_code_point(text_of(bytes));
    if ((found ? found->length : 0) == length_by_table(bytes)) return;
    if (wrong++ == 0) first_wrong = bytes;
  };
  look({});
  for (int lead = 0; lead < 256; ++lead) {
    look({lead});
    for (int second = 0; second < 256; ++second) {
      look({lead, second});
      for (const int third : edges) {
        look({lead, second, third});
        for (const int fourth : edges) look({lead, second, third, fourth});
      }
    }
  }
  CHECK(first_wrong == std::vector<int>{});
  CHECK(wrong == 0);
}

TEST_CASE("code points are those that the bits say, whatever follows") {
  struct Row {
    std::string bytes;
    char32_t value;
    std::size_t length;
  };
  for (const Row& row : std::vector<Row>{{std::string(1, '\0'), 0, 1},
                                         {"A", 'A', 1},
                                         {"\x7F", 0x7F, 1},
                                         {"\xC2\x80", 0x80, 2},
                                         {"\xC3\xA9", 0xE9, 2},
                                         {"\xDF\xBF", 0x7FF, 2},
                                         {"\xE0\xA0\x80", 0x800, 3},
                                         {"\xE2\x82\xAC", 0x20AC, 3},
                                         {"\xED\x9F\xBF", 0xD7FF, 3},
                                         {"\xEE\x80\x80", 0xE000, 3},
                                         {"\xEF\xBF\xBF", 0xFFFF, 3},
                                         {"\xF0\x90\x80\x80", 0x10000, 4},
                                         {"\xF0\x9F\x98\x80", 0x1F600, 4},
                                         {"\xF3\xA5\xAA\x95", 0xE5A95, 4},
                                         {"\xF4\x8F\xBF\xBF", 0x10FFFF, 4}}) {
    INFO(row.bytes);
    for (const char* const more : {"", "a", "\x80", "\xC3", "\xFF"}) {
      const auto found = first_code_point(row.bytes + more);
      REQUIRE(found);
      CHECK(found->value == row.value);
      CHECK(found->length == row.length);
    }
    for (std::size_t cut = 1; cut < row.length; ++cut) {
      CHECK_FALSE(first_code_point(row.bytes.substr(0, cut)));
    }
  }
}

TEST_CASE("the text of bytes gives them back") {
  const std::vector<std::string> all = {
      "",     "w",      "a\\b",         "\\x41",         "\\x80", "\\\\x80", "\\\\",
      "\x80", "\\\xff", "a\xff\\x80\\", "\xc3\xa9\\xff", "\\xf",  "x\xc3"};
  for (const std::string& bytes : all) {
    INFO(as_utf8(bytes));
    CHECK(bytes_of_utf8(as_utf8(bytes)) == bytes);
  }
}

}  // namespace
}  // namespace ttcheck
