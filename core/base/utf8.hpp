// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text that was read as bytes: which of them are characters.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ttcheck {

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;
};

/// One UTF-8 sequence at the start of `bytes`: its code point and length; nothing when it is not
/// well-formed (overlong, surrogate, above U+10FFFF, cut short).
std::optional<CodePoint> first_code_point(std::string_view bytes);

enum class Surrogates : bool { refused, taken };

/// True where all of `bytes` is UTF-8; code points D800 to DFFF, which are no characters, may be
/// taken for some, as Python's `surrogatepass` does.
bool is_utf8(std::string_view bytes, Surrogates surrogates);

/// Valid UTF-8 as it is. In text with invalid bytes those become `\xNN` and each backslash two; so
/// too in valid text that would read like such an escape: two names never come out the same.
std::string as_utf8(std::string_view bytes);

/// The bytes of which as_utf8 made the text.
std::string bytes_of_utf8(std::string_view text);

}  // namespace ttcheck
