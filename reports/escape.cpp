// SPDX-License-Identifier: Apache-2.0
#include "reports/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

#include "core/base/utf8.hpp"

namespace ttcheck::reports {
namespace {

struct Span {
  char32_t first, last;
};

/// Not shown as they are: Unicode 15 general categories Cc, Cf, Zl, Zp, Co, blanks other than
/// U+0020, fillers that draw nothing, variation selectors and noncharacters. Sorted.
constexpr Span kHidden[] = {
    {0x00, 0x1F},       {0x7F, 0xA0},       {0xAD, 0xAD},       {0x34F, 0x34F},
    {0x600, 0x605},     {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},
    {0x890, 0x891},     {0x8E2, 0x8E2},     {0x115F, 0x1160},   {0x1680, 0x1680},
    {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x2000, 0x200F},   {0x2028, 0x202F},
    {0x205F, 0x206F},   {0x2800, 0x2800},   {0x3000, 0x3000},   {0x3164, 0x3164},
    {0xE000, 0xF8FF},   {0xFDD0, 0xFDEF},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},
    {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},   {0xFFFE, 0xFFFF},   {0x110BD, 0x110BD},
    {0x110CD, 0x110CD}, {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
    {0xE0000, 0x10FFFF}};

/// Marks that stack on the character before them (the blocks of combining diacritics).
constexpr Span kCombining[] = {{0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},
                               {0x610, 0x61A},   {0x64B, 0x65F},   {0x1AB0, 0x1AFF},
                               {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE20, 0xFE2F}};

constexpr std::size_t kLongestMessage = 2000;
constexpr int kMostMarks = 2;  ///< Vietnamese and IPA need two on one letter

bool in(std::span<const Span> spans, char32_t point) {
  const auto after = std::ranges::upper_bound(spans, point, {}, &Span::first);
  return after != spans.begin() && point <= std::prev(after)->last;
}

std::string escaped(char32_t point) {
  switch (point) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  const auto number = static_cast<std::uint32_t>(point);
  return point < 0x80 ? fmt::format("\\x{:02x}", number) : fmt::format("\\u{{{:x}}}", number);
}

/// What CI systems obey: `::` at the start of a line, where breaking lines may put whatever stands
/// behind a blank; `##[` and `##vso[` anywhere.
bool starts_command(std::string_view rest, bool first) {
  return (first && rest.starts_with("::")) || rest.starts_with("##[") || rest.starts_with("##vso[");
}

std::uint64_t fnv1a(std::string_view bytes) {  // constants: draft-eastlake-fnv, 64 bits
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  }
  return hash;
}

std::string toml_escaped(char32_t point) {
  const auto number = static_cast<std::uint32_t>(point);
  return number < 0x10000 ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

/// `\u2028`, above 16 bits as two surrogates.
std::string json_escape(char32_t point) {
  const auto number = static_cast<std::uint32_t>(point);
  if (number < 0x10000) return fmt::format("\\u{:04x}", number);
  const std::uint32_t rest = number - 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
}

/// One line, cut after `longest` code points: what must not be shown as it is goes through
/// `escape`.
std::string shown_line(std::string_view bytes, std::size_t longest, std::string (*escape)(char32_t),
                       std::string_view backslash) {
  std::string text;
  int marks = 0;
  std::size_t shown = 0;
  for (std::string_view rest = bytes; !rest.empty(); ++shown) {
    if (shown == longest) {
      return text + fmt::format("\\...({} bytes, fnv1a {:016x})", bytes.size(), fnv1a(bytes));
    }
    const auto point = first_code_point(rest);
    if (!point) {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(rest.front()));
      rest.remove_prefix(1);
      continue;
    }
    marks = in(kCombining, point->value) ? marks + 1 : 0;
    if (point->value == '\\') {
      text += backslash;
    } else if (in(kHidden, point->value) || marks > kMostMarks ||
               starts_command(rest, rest.data() == bytes.data() || rest.data()[-1] == ' ')) {
      text += escape(point->value);
    } else {
      text += rest.substr(0, point->length);
    }
    rest.remove_prefix(point->length);
  }
  return text;
}

}  // namespace

std::string terminal_text(std::string_view bytes, std::size_t longest) {
  return shown_line(bytes, longest, escaped, "\\\\");
}

std::string message_text(std::string_view message) {
  return terminal_text(message, kLongestMessage);
}

std::string error_text(const Error& error) {
  const std::string place = to_string(error.where());
  std::string text = message_text(place.empty() ? error.message() : place + ": " + error.message());
  std::string_view rest = error.excerpt();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    text += "\n    " + terminal_text(rest.substr(0, end), kLongestMessage);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return text;
}

std::string layout_text(std::string_view lines) {
  constexpr std::size_t kLongestLine = 16384;
  std::string text;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    text += end <= kLongestLine ? shown_line(lines.substr(0, end), kLongestLine, toml_escaped, "\\")
                                : fmt::format("# left out: a line of {} bytes", end);
    text += '\n';
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return text;
}

std::string json_plain(std::string json) {
  const auto hides = [](char c) {
    return c == '/' || c == '\x7f' || static_cast<unsigned char>(c) >= 0x80;
  };
  if (std::ranges::none_of(json, hides)) return json;
  std::string text;
  text.reserve(json.size());
  for (std::string_view rest = json; !rest.empty();) {
    const auto point = first_code_point(rest);
    const std::size_t length = point ? point->length : 1;
    if (point && point->value >= 0x7F && in(kHidden, point->value)) {
      text += json_escape(point->value);
    } else if (rest.front() == '/' && text.ends_with('<')) {
      text += "\\/";
    } else {
      text += rest.substr(0, length);
    }
    rest.remove_prefix(length);
  }
  return text;
}

}  // namespace ttcheck::reports
