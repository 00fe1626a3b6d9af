// SPDX-License-Identifier: Apache-2.0
#include "core/model/toml_text.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <tuple>

namespace ttcheck {
namespace {

/// "line:column: what", or nothing.
std::string said(const std::string& text) {
  const auto fault = toml_fault(text);
  return fault ? fmt::format("{}:{}: {}", fault->line, fault->column, fault->what) : "";
}

const std::string kOutside = "a character beyond ASCII outside of quotes and comments";
const std::string kBehind = "a character beyond ASCII behind a backslash";

TEST_CASE("beyond ASCII is what stands in quotes and comments") {
  for (const char* const good :
       {"", "\xEF\xBB\xBFx = 1", "x = 'é'", "x = \"é\" # é", "# é\nx = 1", "'é' = 1", "x = ''\n# é",
        "x = \"\" # é", "x = '''\né\n''' # é", "x = \"\"\"\né \"\" é\n\"\"\"\"\" # é",
        "x = \"a\\\"é\"", "x = \"\"\"a\\\\é\"\"\"", "x = 'a\\' # é", "x = '''a\\é'''",
        "x = \"\"\"a\\\n  b é\"\"\"", "x = \"\"\"\\\"\"\"\" # é"}) {
    CAPTURE(good);
    CHECK(said(good).empty());
  }
  for (const auto& [bad, line, column] :
       {std::tuple("é = 1", 1, 1), std::tuple("x = 1 é", 1, 7), std::tuple("x = 'a'é", 1, 8),
        std::tuple("y = 1\nx = ''é", 2, 7), std::tuple("x = '''a'''é", 1, 12),
        std::tuple("x = '''a'''''é", 1, 14), std::tuple("x = \"a\n\" # é\né = 1", 3, 1),
        std::tuple("x = 'a' \xEF\xBB\xBF", 1, 9)}) {
    CAPTURE(bad);
    CHECK(said(bad) == fmt::format("{}:{}: {}", line, column, kOutside));
  }
}

TEST_CASE("behind a backslash only what may be escaped, or the rest of the line and blanks") {
  CHECK(said("x = \"\\é\"") == "1:7: " + kBehind);
  CHECK(said("x = \"\"\"\\é\"\"\"") == "1:9: " + kBehind);
  CHECK(said("x = \"\"\"a\\\n \t é\"\"\"") == "2:4: " + kBehind);
  CHECK(said("x = \"\"\"a\\ \n\n é\"\"\"") == "3:2: " + kBehind);
}

TEST_CASE("a quote stands where a key or a value begins") {
  for (const char* const bad :
       {"x = 0\"é\"", "x = 'a' 'b'c'é'", "a\"é\" = 1", "x = '''a'''\"é\""}) {
    CAPTURE(bad);
    CHECK(said(bad).ends_with(": a quote where no key or value begins"));
  }
  CHECK(said("a.\"é\".'ü' = [\"é\",'é',{'é'='é'}]").empty());
}

TEST_CASE("what toml++ would read on behind is refused first") {
  CHECK(said("x = 1a = 'é'") == "1:8: an = where no key is");
  CHECK(said("x = 2[ 'é' ]") == "1:6: a bracket where no value begins");
  CHECK(said("x = 1.'é'") == "1:7: a quote where no key or value begins");
  CHECK(said("'''é''' = 1") == "1:1: a key of several lines");
  for (const char* const good :
       {"x = [['é'], [1, 'é']]\ny = {a = [1], 'é' = {b = 2}}",
        "[[a.'é']]\nx = [\n 'é', # é\n 'é'\n]", "['é']\n'é'.b = 1979-05-27\n[ a . b ]\nx = {}"}) {
    CAPTURE(good);
    CHECK(said(good).empty());
  }
}

TEST_CASE("S4 dots are counted in keys alone") {
  const auto times = [](std::size_t count, const std::string& text) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
  };
  CHECK(said(times(256, "a.") + "b = 1").empty());
  CHECK(said(times(257, "a.") + "b = 1") == "1:514: a key of more than 256 parts");
  CHECK(said("x = '''\n" + times(300, ".") + "''' # " + times(300, ".")).empty());
  CHECK(said("x = '''\n'''\n" + times(257, "a.") + "b = 1").starts_with("3:514: "));
}

}  // namespace
}  // namespace ttcheck
