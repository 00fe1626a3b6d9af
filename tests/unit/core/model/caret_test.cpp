// SPDX-License-Identifier: Apache-2.0
#include "core/model/caret.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace ttcheck {
namespace {

std::string spaces(std::size_t count) { return std::string(count, ' '); }

/// `count` letters, no two neighbours alike.
std::string letters(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += static_cast<char>('a' + i % 26);
  return text;
}

TEST_CASE("what is wrong, the line, and a caret under the place") {
  const std::string line = letters(200);
  struct Row {
    std::string line;
    std::size_t at;
    std::string expected;
  };
  for (const Row& row : std::vector<Row>{
           {"", 0, "bad, column 1\n  \n  ^"},
           {"", 5, "bad, column 1\n  \n  ^"},
           {"abc", 0, "bad, column 1\n  abc\n  ^"},
           {"abc", 2, "bad, column 3\n  abc\n    ^"},
           {"abc", 3, "bad, column 4\n  abc\n     ^"},
           {"abc", 4, "bad, column 4\n  abc\n     ^"},
           {"a\tb\tc", 2, "bad, column 3\n  a b c\n    ^"},
           {"{} {0}", 1, "bad, column 2\n  {} {0}\n   ^"},
           {letters(96), 95, "bad, column 96\n  " + letters(96) + "\n" + spaces(97) + "^"},
           {letters(97), 95, "bad, column 96\n  " + letters(96) + "\n" + spaces(97) + "^"},
           {line, 0, "bad, column 1\n  " + letters(96) + "\n  ^"},
           {line, 96, "bad, column 97\n  " + line.substr(48, 96) + "\n" + spaces(50) + "^"},
           {line, 110, "bad, column 111\n  " + line.substr(62, 96) + "\n" + spaces(50) + "^"},
           {line, 200, "bad, column 201\n  " + line.substr(152) + "\n" + spaces(50) + "^"}}) {
    INFO(row.at << " of " << row.line);
    CHECK(caret_error("bad", row.line, row.at).what() == row.expected);
  }
}

TEST_CASE("an error of a line keeps what it said and where") {
  const LineError error("no number", "a = x", 4);
  CHECK(error.said() == "no number");
  CHECK(error.at() == 4);
  CHECK(error.message() == "no number, column 5");
  CHECK(error.excerpt() == "  a = x\n      ^");
  CHECK(error.what() == std::string("no number, column 5\n  a = x\n      ^"));
  CHECK(error.where() == Where{"", std::nullopt, ""});
}

}  // namespace
}  // namespace ttcheck
