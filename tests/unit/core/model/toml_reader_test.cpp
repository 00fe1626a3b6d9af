// SPDX-License-Identifier: Apache-2.0
#include "core/model/toml_reader.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/error_of.hpp"

namespace ttcheck {
namespace {

using tests::error_of;

/// All of the base, to be called from here.
class Reader : public TomlReader {
 public:
  explicit Reader(std::string_view text) : TomlReader(text, "f.toml") {}

  using TomlReader::document;
  using TomlReader::fail;
  using TomlReader::fail_inside;
  using TomlReader::glob;
  using TomlReader::keys;
  using TomlReader::line_at;
  using TomlReader::line_of;
  using TomlReader::string;
  using TomlReader::string_node;
  using TomlReader::table;
  using TomlReader::tables;
};

/// "f.toml: line LINE: WHAT, column COLUMN" and the line with its caret.
std::string shown(int line, const std::string& what, const std::string& text, std::size_t column) {
  return "f.toml: line " + std::to_string(line) + ": " + caret_error(what, text, column - 1).what();
}

TEST_CASE("the line of a place, whatever ends it") {
  struct Row {
    std::string text;
    std::uint32_t line;
    std::string expected;
  };
  for (const Row& row : std::vector<Row>{{"", 1, ""},
                                         {"a", 1, "a"},
                                         {"a", 2, ""},
                                         {"a\nb\nc", 1, "a"},
                                         {"a\nb\nc", 2, "b"},
                                         {"a\nb\nc", 3, "c"},
                                         {"a\nb\nc", 4, ""},
                                         {"a\nb\nc", 900, ""},
                                         {"a\n\nc\n", 2, ""},
                                         {"a\n\nc\n", 3, "c"},
                                         {"a\n\nc\n", 4, ""},
                                         {"a\r\nb\r\n", 1, "a"},
                                         {"a\r\nb\r\n", 2, "b"},
                                         {"a b\tc", 1, "a b\tc"},
                                         {"a\nb", 0, "a"}}) {
    INFO(row.text << ", line " << row.line);
    CHECK(Reader(row.text).line_at({row.line, 1}) == row.expected);
  }
}

TEST_CASE("S4 a key of very many parts is refused before it is parsed") {
  const auto times = [](std::size_t count, const std::string& text) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
  };
  for (const std::string& good :
       {times(256, "a.") + "b = 1", "x = '" + times(999, ".") + "' # " + times(999, "."),
        "x = \"" + times(999, "\\\".") + "\"", "x = [" + times(999, "1.5,") + "2.5]",
        times(999, "[a.b]\n").substr(0, 5)}) {
    INFO(good.substr(0, 30));
    CHECK_NOTHROW(Reader(good).document());
  }
  for (const std::string& bad :
       {times(257, "a.") + "b = 1", "x = 1\n" + times(300'000, "a.") + "b = 1",
        "[" + times(257, "a . ") + "b]", times(257, "'x'.") + "b = 1",
        R"(x = {y = 'a\', )" + times(257, "a.") + "b = 1}"}) {
    INFO(bad.substr(0, 30));
    CHECK_THROWS_WITH_AS(Reader(bad).document(), doctest::Contains("a key of more than 256 parts"),
                         Error);
  }
}

TEST_CASE("a fault is shown with file, line, column and caret") {
  const Reader reader("ab = 1\n  cd = 2\n");
  CHECK(error_of([&] { reader.fail({1, 1}, "bad"); }) == shown(1, "bad", "ab = 1", 1));
  CHECK(error_of([&] { reader.fail({2, 3}, "bad"); }) == shown(2, "bad", "  cd = 2", 3));
  CHECK(error_of([&] { reader.fail({2, 3}, "bad", 5); }) == shown(2, "bad", "  cd = 2", 8));
  CHECK(error_of([&] { reader.fail({2, 0}, "bad"); }) == shown(2, "bad", "  cd = 2", 1));
  CHECK(error_of([&] { reader.fail({2, 0}, "bad", 2); }) == shown(2, "bad", "  cd = 2", 3));
  const toml::table root = reader.document();
  CHECK(error_of([&] { reader.fail(*root.get("cd"), "bad"); }) == shown(2, "bad", "  cd = 2", 8));
  try {
    reader.fail({1, 1}, "bad");
  } catch (const Error& error) {
    CHECK(error.where() == Where{"f.toml", std::nullopt, ""});
  }
}

TEST_CASE("text that is no TOML is refused at its place") {
  struct Row {
    std::string text;
    std::string begins, line;
  };
  for (const Row& row : std::vector<Row>{{"a = 1\nb =\n", "f.toml: line 2: ", "b ="},
                                         {"a = 1\n\na = 2\n", "f.toml: line 3: ", "a = 2"},
                                         {"x = \"open", "f.toml: line 1: ", "x = \"open"},
                                         {"[[^x]]", "f.toml: line 1: ", "[[^x]]"},
                                         {"\xc3\xa9 = 1", "f.toml: line 1: ", "\xc3\xa9 = 1"}}) {
    INFO(row.text);
    const std::string said = error_of([&] { (void)Reader(row.text).document(); });
    CHECK(said.rfind(row.begins, 0) == 0);
    CHECK(said.find("\n  " + row.line + "\n") != std::string::npos);
    CHECK(said.back() == '^');
  }
  CHECK(Reader("").document().empty());
}

TEST_CASE("keys that the format does not have are refused, with those that it has") {
  const Reader reader("a = 1\n[t]\nb = 2\n  c = 3\n");
  const toml::table root = reader.document();
  CHECK(error_of([&] { reader.keys(root, {"a", "t"}, "the file"); }).empty());
  CHECK(error_of([&] { reader.keys(root, {"t", "a", "z"}, "the file"); }).empty());
  const toml::table& table = *root.get("t")->as_table();
  CHECK(error_of([&] { reader.keys(table, {"b", "d"}, "[t]"); }) ==
        shown(4, "[t] has no key c; expected b d", "  c = 3", 3));
  CHECK(error_of([&] { reader.keys(table, {}, "[t]"); }) ==
        shown(3, "[t] has no key b; expected ", "b = 2", 1));
}

TEST_CASE("a table, or none; a list of tables, or none") {
  const Reader reader("n = [1, 2]\nm = [{x = 1}, 5]\ne = []\n[t]\nx = 7\n[[l]]\n[[l]]\nx = 8\n");
  const toml::table root = reader.document();
  CHECK(reader.table(root, "absent") == nullptr);
  REQUIRE(reader.table(root, "t") != nullptr);
  CHECK(reader.table(root, "t")->get("x")->value<int>() == 7);
  CHECK(error_of([&] { (void)reader.table(root, "n"); }) ==
        shown(1, "n must be a table: [n]", "n = [1, 2]", 5));
  CHECK(reader.tables(root, "absent").empty());
  CHECK(reader.tables(root, "e").empty());
  const auto list = reader.tables(root, "l");
  REQUIRE(list.size() == 2);
  CHECK(list[0]->empty());
  CHECK(list[1]->get("x")->value<int>() == 8);
  CHECK(Reader::line_of(*list[0]) == 6);
  CHECK(Reader::line_of(*list[1]) == 7);
  CHECK(Reader::line_of(*reader.table(root, "t")) == 4);
  CHECK(error_of([&] { (void)reader.tables(root, "t"); }) ==
        shown(4, "t must be a list of tables: [[t]]", "[t]", 1));
  CHECK(error_of([&] { (void)reader.tables(root, "n"); }) ==
        shown(1, "expected a table: [[n]]", "n = [1, 2]", 6));
  CHECK(error_of([&] { (void)reader.tables(root, "m"); }) ==
        shown(2, "expected a table: [[m]]", "m = [{x = 1}, 5]", 15));
}

TEST_CASE("a string must be there and be one") {
  const Reader reader("[t]\ns = \"text\"\nn = 3\n");
  const toml::table root = reader.document();
  const toml::table& table = *reader.table(root, "t");
  CHECK(reader.string(table, "s") == "text");
  CHECK(&reader.string_node(table, "s") == table.get("s"));
  CHECK(error_of([&] { (void)reader.string(table, "n"); }) ==
        shown(3, "n must be a string", "n = 3", 5));
  CHECK(error_of([&] { (void)reader.string(table, "q"); }) == shown(1, "q is missing", "[t]", 1));
}

TEST_CASE("a glob is compiled with its separator, or refused at its string") {
  const Reader reader("good = \"a*\"\nbad = \"a{\"\n");
  const toml::table root = reader.document();
  const toml::node& good = *root.get("good");
  CHECK_FALSE(reader.glob(good)->matches("a.b"));
  CHECK(reader.glob(good)->matches("a/b"));
  CHECK(reader.glob(good, '/')->matches("a.b"));
  CHECK_FALSE(reader.glob(good, '/')->matches("a/b"));
  CHECK(error_of([&] { (void)reader.glob(*root.get("bad")); }) ==
        shown(2, "glob a{: the brace is not closed, column 2", "bad = \"a{\"", 7));
}

TEST_CASE("an error inside a string is shown in the file, behind the quote") {
  const Reader reader("x = \"abcd\"\n");
  const toml::table root = reader.document();
  CHECK(error_of([&] { reader.fail_inside(*root.get("x"), {"odd", "abcd", 2}); }) ==
        shown(1, "odd", "x = \"abcd\"", 8));  // the c
}

}  // namespace
}  // namespace ttcheck
