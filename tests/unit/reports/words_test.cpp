// SPDX-License-Identifier: Apache-2.0
#include "reports/words.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "reports/columns.hpp"
#include "reports/fold.hpp"
#include "reports/shell_words.hpp"

namespace ttcheck::reports {
namespace {

TEST_CASE("numbers are short and lists are folded") {
  CHECK(short_number(0.012345) == "0.0123");
  CHECK(short_number(HUGE_VAL) == "inf");
  CHECK(short_number(2662.4) == "2662");
  CHECK(short_number(210599) == "2.11e+05");
  CHECK(hypothesis_words({"scale", {{"k", 0.5}}, 0, 1}) == "scale k=0.5, residual 0");
  CHECK(short_bytes(512) == "512 B");
  CHECK(short_bytes(1572864) == "1.5 MiB");
  CHECK(thousands(1234567) == "1,234,567");
  CHECK(thousands(-123) == "-123");
  CHECK(counted(1, "tensor") == "1 tensor");
  CHECK(counted(0, "tensor") == "0 tensors");
  CHECK(folded(std::vector<std::int32_t>{0, 1, 2, 3, 6}) == "0-3,6");
  CHECK(folded(std::vector<std::int64_t>{1, 2, 4}) == "1,2,4");
  CHECK(folded(std::vector<std::int64_t>{}) == "");
}

TEST_CASE("numbers of three digits, and of four below ten thousand") {
  struct {
    double value;
    const char* text;
  } const rows[] = {
      {std::nan(""), "nan"}, {-HUGE_VAL, "-inf"},      {0, "0"},          {999.4, "999"},
      {1000, "1000"},        {9999.4, "9999"},         {9999.5, "1e+04"}, {-2662.4, "-2662"},
      {-0.5, "-0.5"},        {1.23456e-7, "1.23e-07"},
  };
  for (const auto& row : rows) CHECK(short_number(row.value) == row.text);
}

TEST_CASE("bytes in the unit that leaves less than a thousand") {
  CHECK(short_bytes(0) == "0 B");
  CHECK(short_bytes(999) == "999 B");
  CHECK(short_bytes(1000) == "0.977 KiB");
  CHECK(short_bytes(std::uint64_t{999} << 10) == "999 KiB");
  CHECK(short_bytes(std::uint64_t{5} << 30) == "5 GiB");
  CHECK(short_bytes(std::uint64_t{5} << 60) == "5 EiB");
}

TEST_CASE("digits in threes") {
  CHECK(thousands(0) == "0");
  CHECK(thousands(999) == "999");
  CHECK(thousands(1000) == "1,000");
  CHECK(thousands(-1000) == "-1,000");
  CHECK(thousands(123456) == "123,456");
}

TEST_CASE("lists, coordinates, shares") {
  CHECK(folded(std::vector<std::int64_t>{1, 2}) == "1,2");
  CHECK(folded(std::vector<std::int64_t>{3, 5, 6, 7}) == "3,5-7");
  CHECK(bracketed(std::vector<std::int64_t>{}) == "[]");
  CHECK(bracketed(std::vector<std::int64_t>{4096, 11008}) == "[4096, 11008]");
  CHECK(axes_words({}) == "");
  CHECK(axes_words({{"tp\n", {1}}, {"pp", {0, 1, 2}}}) == "tp\\n=1 pp=0-2");
  CHECK(percent(1, 0) == "0%");
  CHECK(percent(1, 8) == "12.5%");
  CHECK(percent(3, 3) == "100%");
}

TEST_CASE("a mesh: axes of more than one rank, each once") {
  Mesh mesh;
  CHECK(mesh_words(mesh) == "");
  mesh.axes = {{"pp", 1}, {"dp", 2}, {"tp\n", 4}};
  mesh.expert_axes = {{"dp", 2}, {"ep", 8}, {"tp\n", 2}};
  CHECK(mesh_words(mesh) == "dp=2 tp\\n=4 ep=8 tp\\n=2");
}

TEST_CASE("an explanation: its parameters and what it leaves") {
  CHECK(hypothesis_words({"a\n",
                          {{"k\n", std::int64_t{-3}},
                           {"x", 1.0 / 3},
                           {"s", std::string("\x1b")},
                           {"dims", std::vector<std::int64_t>{1, 2}}},
                          0.125,
                          1}) == "a\\n k\\n=-3 x=0.333333 s=\\x1b dims=[1, 2], residual 0.125");
}

TEST_CASE("who a tensor is") {
  CHECK(shown({"w\n", Phase::none, 3, 4}) == "w\\n");
  CHECK(shown({"w\n", Phase::loss, 0, 0}) == "loss w\\n");
  CHECK(shown({"w", Phase::loss, 1, 0}) == "loss w, micro-batch 1");
  CHECK(shown({"w", Phase::loss, 0, 1}) == "loss w, call 1");
}

TEST_CASE("words of a command can be pasted") {
  CHECK(shell_words({"ttcheck", "a b", "c"}) == "ttcheck 'a b' c");
  CHECK(shell_words({"it's"}) == "'it'\\''s'");
  CHECK(shell_words({"a\\b", "$(x)", "`x`", "!x", "#", "~"}) ==
        R"('a\b' '$(x)' '`x`' '!x' '#' '~')");
  for (const char* word : {"", "\xff", "a\nb", "\x1b[1m", "\x7f", "\u009b1m", "\u202e"}) {
    CHECK(shell_words({"ttcheck", word, "c"}) == "");  // not said, rather than said otherwise
  }
  CHECK(shell_words({"ttcheck", std::string("w\0x", 3)}) == "");
  CHECK(shell_words({"\u00e9", "it's \u6a21\u578b"}) == "'\u00e9' 'it'\\''s \u6a21\u578b'");
  CHECK(shell_words({std::string(5000, 'a')}) == "");
}

TEST_CASE("tables line up and drop empty columns") {
  Columns columns("lrl");
  columns.add({"name", "n", "none"});
  columns.add({"\u00e9", "10", ""});
  CHECK(columns.text(1) == " name   n\n \u00e9     10\n");
}

TEST_CASE("text is broken at blanks and keeps its line ends") {
  CHECK(labelled("why", "aa bb cc", 19) == "  why        aa bb\n             cc\n");
  CHECK(labelled("why", "aa\nbb", 80) == "  why        aa\n             bb\n");
}

TEST_CASE("layers that differ alike are one row, the worst stands for it") {
  std::vector<TensorResult> results(4);
  for (std::size_t i = 0; i < 4; ++i) {
    results[i].identity.name = "layers." + std::to_string(i == 3 ? 7 : i) + ".mlp.weight";
    results[i].ratio = i == 1 ? 9 : 2;
    results[i].wrong_ranks = {static_cast<std::int32_t>(i)};
  }
  results[2].identity.name = "norm.01.weight";
  std::vector<const TensorResult*> list;
  for (const TensorResult& one : results) list.push_back(&one);
  const std::vector<Group> groups = fold(list);
  REQUIRE(groups.size() == 2);
  CHECK(name_of(groups[0]) == "layers.{0,1,7}.mlp.weight");
  CHECK(groups[0].worst == &results[1]);
  CHECK(wrong_ranks_of(groups[0]) == std::vector<std::int32_t>{0, 1, 3});
  CHECK(name_of(groups[1]) == "norm.01.weight");
}

}  // namespace
}  // namespace ttcheck::reports
