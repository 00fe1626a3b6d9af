// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one boundary between text from inputs and text for people and programs. Every escape here is
// injective: two names never come out the same.

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace ttcheck::reports {

/// Code points that a person is shown of one name; what is longer is cut, with length and hash.
inline constexpr std::size_t kLongestShown = 256;

/// The bytes as text for terminals and logs: printable, one line, valid UTF-8. Control characters,
/// bidi overrides, invisible characters and floods of combining marks become `\n`, `\x1b`,
/// `\u{202e}`; a backslash becomes two; invalid bytes `\xNN`. What a CI log would take for a
/// command (`::error::`, `##[`) is broken up.
std::string terminal_text(std::string_view bytes, std::size_t longest = kLongestShown);

/// A message of ours, which may hold names, as terminal_text shows it: one line.
std::string message_text(std::string_view message);

/// Place, message, and the lines of a layout file that it is about, indented: each as
/// terminal_text.
std::string error_text(const Error& error);

/// Lines of a layout file as they are, ready to paste: what terminal_text would not show is TOML's
/// `\u202e`, bytes that are no text `\xNN`. REQUIRES names with any of these in basic strings
/// (`"..."`). A line that is too long is left out, which a comment says.
std::string layout_text(std::string_view lines);

/// JSON that says the same and does nothing where it is shown: in its strings what terminal_text
/// would not show is `\u202e`, and `</` is `<\/`, which ends no script. REQUIRES valid JSON.
std::string json_plain(std::string json);

}  // namespace ttcheck::reports
