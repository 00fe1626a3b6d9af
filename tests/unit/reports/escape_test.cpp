// SPDX-License-Identifier: Apache-2.0
#include "reports/escape.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <string>

#include "core/base/utf8.hpp"

namespace ttcheck::reports {
namespace {

using namespace std::string_literals;

TEST_CASE("NM01 control sequences of terminals are shown, not obeyed") {
  CHECK(terminal_text("\x1b]52;c;aGk=\a") == "\\x1b]52;c;aGk=\\x07");
  CHECK(terminal_text("\x1b[2J") == "\\x1b[2J");
  CHECK(terminal_text("\xc2\x9b"
                      "31m") == "\\u{9b}31m");  // CSI as one C1 character
  CHECK(terminal_text("\x9b") == "\\x9b");      // and as one invalid byte
  CHECK(terminal_text("a\x7f") == "a\\x7f");
  CHECK(terminal_text("a\0b"s) == "a\\x00b");
}

TEST_CASE("NM02 line ends, returns, backspaces and tabs stay within one line") {
  CHECK(terminal_text("a\nb\rc\bd\te") == "a\\nb\\rc\\x08d\\te");
}

TEST_CASE("NM03 bidi overrides, invisible characters and floods of marks are shown") {
  CHECK(terminal_text("a\u202eb") == "a\\u{202e}b");
  CHECK(terminal_text("a\u2066b\u2069") == "a\\u{2066}b\\u{2069}");
  CHECK(terminal_text("a\u200bb") == "a\\u{200b}b");
  CHECK(terminal_text("\ufeff") == "\\u{feff}");
  CHECK(terminal_text("\U000e0041") == "\\u{e0041}");
  CHECK(terminal_text("e\u0301") == "e\u0301");
  CHECK(terminal_text("e\u0301\u0301\u0301") == "e\u0301\u0301\\u{301}");
}

/// A code point in UTF-8.
std::string encoded(char32_t point) {
  const auto part = [&](int shift, unsigned mark, unsigned bits) {
    return static_cast<char>(mark | ((point >> shift) & bits));
  };
  if (point < 0x80) return {part(0, 0, 0x7F)};
  if (point < 0x800) return {part(6, 0xC0, 0x1F), part(0, 0x80, 0x3F)};
  if (point < 0x10000) return {part(12, 0xE0, 0xF), part(6, 0x80, 0x3F), part(0, 0x80, 0x3F)};
  return {part(18, 0xF0, 7), part(12, 0x80, 0x3F), part(6, 0x80, 0x3F), part(0, 0x80, 0x3F)};
}

TEST_CASE("NM03 what draws nothing or is private is shown, what stands beside it is as it is") {
  // First and last of the runs of Cc, Cf, Zl, Zp, Co, other blanks and noncharacters (Unicode's
  // general categories), and fillers and variation selectors, which have others.
  const char32_t runs[][2] = {
      {0x00, 0x1F},       {0x7F, 0xA0},       {0xAD, 0xAD},       {0x34F, 0x34F},
      {0x600, 0x605},     {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},
      {0x890, 0x891},     {0x8E2, 0x8E2},     {0x115F, 0x1160},   {0x1680, 0x1680},
      {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x2000, 0x200F},   {0x2028, 0x202F},
      {0x205F, 0x206F},   {0x2800, 0x2800},   {0x3000, 0x3000},   {0x3164, 0x3164},
      {0xE000, 0xF8FF},   {0xFDD0, 0xFDEF},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},
      {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},   {0xFFFE, 0xFFFF},   {0x110BD, 0x110BD},
      {0x110CD, 0x110CD}, {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
      {0xE0000, 0x10FFFF}};
  const auto as_it_is = [](char32_t point) {
    return terminal_text(encoded(point)) == encoded(point);
  };
  for (const auto& [first, last] : runs) {
    CAPTURE(static_cast<std::uint32_t>(first));
    CHECK_FALSE(as_it_is(first));
    CHECK_FALSE(as_it_is(last));
    const bool surrogate = first == 0xE000;  // what stands before is no character
    if (first > 0 && !surrogate) CHECK(as_it_is(first - 1));
    if (last < 0x10FFFF) CHECK(as_it_is(last + 1));
  }
  const char32_t marks[][2] = {
      {0x300, 0x34E}, {0x350, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},
      {0x64B, 0x65F}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE20, 0xFE2F}};
  const auto stacks = [](char32_t point) {
    const std::string mark = encoded(point), three = mark + mark + mark;
    return terminal_text("e" + three) != "e" + three;
  };
  for (const auto& [first, last] : marks) {
    CAPTURE(static_cast<std::uint32_t>(first));
    CHECK(stacks(first));
    CHECK(stacks(last));
    if (first != 0x350) CHECK_FALSE(stacks(first - 1));
    if (last != 0x34E) CHECK_FALSE(stacks(last + 1));
  }
}

TEST_CASE("NM04 invalid UTF-8 is shown byte by byte, and JSON text stays valid") {
  CHECK(terminal_text("a\xff") == "a\\xff");
  CHECK(terminal_text("\xc0\xaf") == "\\xc0\\xaf");           // overlong
  CHECK(terminal_text("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // surrogate
  CHECK(terminal_text("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
  CHECK(terminal_text("\xe2\x82") == "\\xe2\\x82");  // cut short
  CHECK(terminal_text("\u20ac") == "\u20ac");
  CHECK(as_utf8("a\\b\xff") == "a\\\\b\\xff");
  CHECK(as_utf8("a\\b") == "a\\b");
  CHECK(as_utf8("a\\xffb") == "a\\\\xffb");
}

TEST_CASE("NM05 a huge name is cut, with its length and hash") {
  const std::string text = terminal_text(std::string(100'000, 'a'));
  CHECK(text.size() < 320);
  CHECK(text.find("100000 bytes") != text.npos);
  CHECK(text != terminal_text(std::string(99'999, 'a') + "b"));
  // a vector of draft-eastlake-fnv
  CHECK(terminal_text("foobar", 3) == "foo\\...(6 bytes, fnv1a 85944171f73967e8)");
  CHECK(terminal_text("foobar", 6) == "foobar");
}

TEST_CASE("NM10 what a CI log would obey is broken up") {
  CHECK(terminal_text("::error::x") == "\\x3a:error::x");
  CHECK(terminal_text("  ::error::x") == "  \\x3a:error::x");
  CHECK(terminal_text("a ##vso[task]") == "a \\x23#vso[task]");
  CHECK(terminal_text("##[error]") == "\\x23#[error]");
  CHECK(terminal_text("a::b") == "a::b");
  CHECK(terminal_text("a ::error::x") == "a \\x3a:error::x");  // a line may be broken there
}

TEST_CASE("S11 NM02 a message is one line, whatever names it holds; lines of a text come apart") {
  CHECK(message_text("no x\n\n  next ttcheck show\n::error::x") ==
        "no x\\n\\n  next ttcheck show\\n::error::x");
  const Error error("bad\nname", {"f\n.toml", {}, {}});
  CHECK(error_text(error) == "f\\n.toml: bad\\nname");
  CHECK(error_text(error.showing("  a\x1b = ::error::\n  ^")) ==
        "f\\n.toml: bad\\nname\n      a\\x1b = \\x3a:error::\n      ^");
}

TEST_CASE("S14 JSON holds no character that a terminal or a page obeys") {
  CHECK(json_plain("{\"a\": \"b c/d \u00e9\"}") == "{\"a\": \"b c/d \u00e9\"}");
  CHECK(json_plain("\"\x7f\u009b\u202e\u2028</script>\"") ==
        "\"\\u007f\\u009b\\u202e\\u2028<\\/script>\"");
  CHECK(json_plain("\"\U000E0041\"") == "\"\\udb40\\udc41\"");
}

TEST_CASE("NM01 lines of a layout file keep their escapes and show no control characters") {
  CHECK(layout_text("[[map]]\nreference = 'a\\{b'\n") == "[[map]]\nreference = 'a\\{b'\n");
  CHECK(layout_text("a = \"\x1b[31m\u202e\xff\"") == "a = \"\\u001b[31m\\u202e\\xff\"\n");
  CHECK(layout_text("\U000E0041") == "\\U000e0041\n");
  CHECK(layout_text("a = \"##[error]\"\n::error::x") ==
        "a = \"\\u0023#[error]\"\n\\u003a:error::x\n");
  CHECK(layout_text(std::string(100'000, 'a')) == "# left out: a line of 100000 bytes\n");
  CHECK(layout_text("").empty());
}

TEST_CASE("NM14 no two names come out the same") {
  CHECK(terminal_text("\\x1b") == "\\\\x1b");
  CHECK(terminal_text("\\x1b") != terminal_text("\x1b"));
  std::mt19937 random(1);
  constexpr std::string_view kPieces[] = {"\\", "x", "f", "\xff", "\xc3", "\xbf", "8", "u{", "\n"};
  std::set<std::string> names, shown, json;
  for (int i = 0; i < 20000; ++i) {
    std::string name;
    for (std::size_t n = random() % 6; n > 0; --n) name += kPieces[random() % std::size(kPieces)];
    names.insert(name);
  }
  for (const std::string& name : names) {
    shown.insert(terminal_text(name));
    json.insert(as_utf8(name));
  }
  CHECK(shown.size() == names.size());
  CHECK(json.size() == names.size());
}

}  // namespace
}  // namespace ttcheck::reports
