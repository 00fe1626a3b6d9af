// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/pickle/text.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

namespace ttcheck::formats {
namespace {

/// Decimal digits of a little-endian magnitude.
std::string decimal(std::vector<std::uint8_t> magnitude) {
  std::string digits;
  while (!magnitude.empty()) {
    unsigned rest = 0;
    for (std::size_t i = magnitude.size(); i-- > 0;) {
      const unsigned value = rest * 256 + magnitude[i];
      magnitude[i] = static_cast<std::uint8_t>(value / 10);
      rest = value % 10;
    }
    digits += static_cast<char>('0' + rest);
    while (!magnitude.empty() && magnitude.back() == 0) magnitude.pop_back();
  }
  std::reverse(digits.begin(), digits.end());
  return digits.empty() ? "0" : digits;
}

std::optional<std::uint32_t> hexadecimal(std::string_view text, std::size_t at, std::size_t count) {
  if (text.size() - at < count) return std::nullopt;
  std::uint32_t value = 0;
  const char* end = text.data() + at + count;
  const auto [stop, error] = std::from_chars(text.data() + at, end, value, 16);
  if (stop != end || error != std::errc()) return std::nullopt;
  return value;
}

std::optional<char> plain_escape(char c) {
  constexpr std::string_view kFrom = "\\'\"abfnrtv";
  constexpr std::string_view kTo = "\\'\"\a\b\f\n\r\t\v";
  const std::size_t at = kFrom.find(c);
  if (at == std::string_view::npos) return std::nullopt;
  return kTo[at];
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

}  // namespace

IntegerText integer_of_bytes(std::string_view bytes) {
  const bool negative = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80) != 0;
  if (bytes.size() <= 8) {
    std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(bytes[i]);
    }
    return {static_cast<std::int64_t>(value), ""};
  }
  std::vector<std::uint8_t> magnitude(bytes.begin(), bytes.end());
  unsigned carry = negative ? 1 : 0;
  for (std::uint8_t& byte : magnitude) {
    if (!negative) break;
    const unsigned value = static_cast<unsigned>(byte ^ 0xff) + carry;
    byte = static_cast<std::uint8_t>(value);
    carry = value >> 8;
  }
  const std::string digits = (negative ? "-" : "") + decimal(std::move(magnitude));
  return *integer_of_decimal(digits);
}

std::optional<IntegerText> integer_of_decimal(std::string_view text) {
  std::string_view digits = text;
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) digits.remove_prefix(1);
  if (digits.empty()) return std::nullopt;
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  if (text[0] == '+') text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc()) return IntegerText{value, ""};
  return IntegerText{std::nullopt, std::string(text)};
}

void append_utf8(std::string& out, std::uint32_t point) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xc0 | point >> 6);
  } else if (point < 0x10000) {
    put(0xe0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3f));
  } else {
    put(0xf0 | (point >> 18 & 0x07));
    put(0x80 | (point >> 12 & 0x3f));
    put(0x80 | (point >> 6 & 0x3f));
  }
  put(0x80 | (point & 0x3f));
}

std::optional<std::string> unquote(std::string_view text) {
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  if (text.size() < 2 || text.front() != text.back()) return std::nullopt;
  if (text.front() != '\'' && text.front() != '"') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    if (const auto plain = plain_escape(text[i])) {
      out += *plain;
    } else if (text[i] == 'x') {
      const auto value = hexadecimal(text, i + 1, 2);
      if (!value) return std::nullopt;
      out += static_cast<char>(*value);
      i += 2;
    } else if (is_octal(text[i])) {
      unsigned value = 0;
      const std::size_t end = std::min(i + 3, text.size());
      for (; i < end && is_octal(text[i]); ++i)
        value = value * 8 + static_cast<unsigned>(text[i] - '0');
      out += static_cast<char>(value);
      --i;
    } else {
      out += '\\';
      out += text[i];
    }
  }
  return out;
}

std::optional<std::string> unescape_unicode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool longer = text.substr(i).starts_with("\\U");
    if (!longer && !text.substr(i).starts_with("\\u")) {
      append_utf8(out, static_cast<unsigned char>(text[i]));
      continue;
    }
    const std::size_t count = longer ? 8 : 4;
    const auto value = hexadecimal(text, i + 2, count);
    if (!value || *value > 0x10ffff) return std::nullopt;
    append_utf8(out, *value);
    i += 1 + count;
  }
  return out;
}

}  // namespace ttcheck::formats
