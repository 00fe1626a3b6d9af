// SPDX-License-Identifier: Apache-2.0
#pragma once
// Integers and strings as pickle's text opcodes write them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ttcheck::formats {

/// Integers of more bytes are not turned into decimal digits: that costs quadratic time.
inline constexpr std::size_t kLongestDecimal = 128;

/// An integer: a number where 64 bits hold it, else its decimal digits.
struct IntegerText {
  std::optional<std::int64_t> small;
  std::string digits;
};

/// Little-endian two's complement; no bytes are 0. REQUIRES at most kLongestDecimal bytes.
IntegerText integer_of_bytes(std::string_view bytes);

/// An optional sign and decimal digits, or nothing.
std::optional<IntegerText> integer_of_decimal(std::string_view text);

/// The contents of 'text' or "text" with Python's string escapes, or nothing.
std::optional<std::string> unquote(std::string_view text);

/// `\uXXXX` and `\UXXXXXXXX` as UTF-8; the other characters are Latin-1. Nothing on a cut escape.
std::optional<std::string> unescape_unicode(std::string_view text);

/// One code point (surrogates included) as UTF-8.
void append_utf8(std::string& out, std::uint32_t point);

}  // namespace ttcheck::formats
