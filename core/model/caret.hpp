#pragma once
// How a bad line of a text is shown: what is wrong, the line, and a caret under the place.

#include <cstddef>
#include <string>
#include <string_view>

namespace ttcheck {

/// `WHAT, column 5` + the line + a caret under byte `at` of it (0 is the first column). Long lines
/// are shown around the place. No final newline.
std::string caret_message(std::string_view what, std::string_view line, std::size_t at);

}  // namespace ttcheck
