// SPDX-License-Identifier: Apache-2.0
#include "core/base/utf8.hpp"

#include <fmt/format.h>

namespace ttcheck {

namespace {

// Well-formed sequences: Unicode 15, table 3-7.
std::optional<CodePoint> first_of(std::string_view bytes, Surrogates surrogates) {
  if (bytes.empty()) return std::nullopt;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return CodePoint{lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead >= 0xF8 || bytes.size() < length) return std::nullopt;
  char32_t value = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0u) != 0x80) return std::nullopt;
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = surrogates == Surrogates::refused && value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return std::nullopt;
  return CodePoint{value, length};
}

constexpr std::string_view kHex = "0123456789abcdef";

/// `\x` and two hex digits that name a byte above 0x7f: what as_utf8 writes for an invalid one.
bool reads_like_escape(std::string_view text) {
  for (std::size_t at = text.find("\\x"); at != text.npos; at = text.find("\\x", at + 1)) {
    const std::string_view digits = text.substr(at + 2, 2);
    if (digits.size() == 2 && kHex.find(digits[0], 8) != kHex.npos &&
        kHex.find(digits[1]) != kHex.npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<CodePoint> first_code_point(std::string_view bytes) {
  return first_of(bytes, Surrogates::refused);
}

bool is_utf8(std::string_view bytes, Surrogates surrogates) {
  for (std::size_t at = 0; at < bytes.size();) {
    const auto point = first_of(bytes.substr(at), surrogates);
    if (!point) return false;
    at += point->length;
  }
  return true;
}

std::string as_utf8(std::string_view bytes) {
  std::string text;
  bool valid = true;
  for (std::string_view rest = bytes; !rest.empty();) {
    const auto point = first_code_point(rest);
    if (!point) {
      valid = false;
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(rest.front()));
      rest.remove_prefix(1);
      continue;
    }
    text += point->value == '\\' ? "\\\\" : rest.substr(0, point->length);
    rest.remove_prefix(point->length);
  }
  return valid && !reads_like_escape(bytes) ? std::string(bytes) : text;
}

std::string bytes_of_utf8(std::string_view text) {
  if (!reads_like_escape(text)) return std::string(text);
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view escape = text.substr(at, 4);
    if (escape.starts_with("\\\\")) {
      bytes += '\\';
      ++at;
    } else if (escape.size() == 4 && escape.starts_with("\\x") && reads_like_escape(escape)) {
      bytes += static_cast<char>(kHex.find(escape[2]) * 16 + kHex.find(escape[3]));
      at += 3;
    } else {
      bytes += text[at];
    }
  }
  return bytes;
}

}  // namespace ttcheck
