// SPDX-License-Identifier: Apache-2.0
#include "reports/columns.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace ttcheck::reports {
namespace {

TEST_CASE("columns that a text takes") {
  struct Row {
    std::string text;
    std::size_t columns;
  };
  const std::vector<Row> rows = {{"", 0}, {"abc", 3}, {"\n", 1}, {"é", 1}, {"a█b", 3}, {"🙂", 1}};
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(columns_of(row.text) == row.columns);
  }
}

TEST_CASE("a table is as wide as its widest cells") {
  struct Row {
    std::string what, alignment;
    std::vector<std::vector<std::string>> rows;
    std::size_t indent;
    std::string text;
  };
  const std::vector<Row> rows = {
      {"a heading and one row", "lr", {{"name", "n"}, {"a", "100"}}, 0, "name    n\na     100\n"},
      {"indented", "lr", {{"name", "n"}, {"a", "100"}}, 2, "  name    n\n  a     100\n"},
      {"a heading wider than its cells",
       "rl",
       {{"size", "x"}, {"1", "y"}},
       0,
       "size  x\n   1  y\n"},
      {"no blanks at the end",
       "ll",
       {{"a", "b"}, {"longer", ""}, {"c", "d"}},
       0,
       "a       b\nlonger\nc       d\n"},
      {"an empty column",
       "lrl",
       {{"a", "b", "c"}, {"1", "", "3"}, {"4", "", ""}},
       0,
       "a  c\n1  3\n4\n"},
      {"code points", "lr", {{"x", "n"}, {"é█", "1"}}, 0, "x   n\né█  1\n"},
      {"a heading alone", "ll", {{"a", "b"}}, 1, "\n"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Columns columns(row.alignment);
    for (const auto& cells : row.rows) columns.add(cells);
    CHECK(columns.rows() == row.rows.size());
    CHECK(columns.text(row.indent) == row.text);
  }
}

TEST_CASE("labelled text is broken at blanks before the width") {
  struct Row {
    std::string what, label, text;
    int width;
    std::string expected;
  };
  const std::string under(13, ' ');
  const std::vector<Row> rows = {
      {"short", "label", "a b", 100, "  label      a b\n"},
      {"no label", "", "a", 100, under + "a\n"},
      {"no text", "label", "", 100, "  label\n"},
      {"a label as long as its column", "elevenchars", "a", 100, "  elevenchars a\n"},
      {"a label of one letter less", "ten__chars", "a", 100, "  ten__chars a\n"},
      {"it just fits", "l", "abc defg", 21, "  l          abc defg\n"},
      {"it just does not", "l", "abc defg", 20, "  l          abc\n" + under + "defg\n"},
      {"a word that is too long", "l", "abcdefgh ij", 18,
       "  l          abcdefgh\n" + under + "ij\n"},
      {"line ends are kept", "l", "a\nb c", 100, "  l          a\n" + under + "b c\n"},
      {"a line end behind a blank", "l", "a \nb", 100, "  l          a\n" + under + "b\n"},
      {"three lines", "l", "ab ab ab", 16, "  l          ab\n" + under + "ab\n" + under + "ab\n"},
      {"code points", "é", "éé éé", 18, "  é          éé éé\n"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(labelled(row.label, row.text, row.width) == row.expected);
  }
}

}  // namespace
}  // namespace ttcheck::reports
