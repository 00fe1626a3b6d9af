#pragma once
// `ttcheck explain CODE`.

#include <string_view>

#include "cli/options.hpp"
#include "core/model/codes.hpp"

namespace ttcheck::cli {

/// What a code's finding means to the reader. Plain text; paragraphs are wrapped when printed.
struct CodeText {
  Code code;
  std::string_view what, why, incident, confirm, fix;
};

/// The text of a code, or null where there is only the table's line.
const CodeText* explanation_of(Code code);

int explain(const Options& options);

}  // namespace ttcheck::cli
