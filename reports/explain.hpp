// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a finding code means to the reader, as `ttcheck explain CODE` prints it.

#include <string>
#include <string_view>

#include "core/model/codes.hpp"

namespace ttcheck::reports {

/// Plain text; paragraphs are wrapped when printed.
struct CodeText {
  Code code;
  std::string_view what, why, incident, confirm, fix;
};

/// The text of a code, or null where there is only the table's line.
const CodeText* explanation_of(Code code);

/// `body` broken at blanks into lines of at most 80 columns, under a heading; nothing when empty.
std::string paragraph(std::string_view heading, std::string_view body);

/// All codes, a line each.
std::string list_of_codes();

/// One code's line and its paragraphs.
std::string explained(Code code);

}  // namespace ttcheck::reports
