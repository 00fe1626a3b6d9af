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

TEST_CASE("words of a command can be pasted") {
  CHECK(shell_words({"ttcheck", "a b", "c"}) == "ttcheck 'a b' c");
  CHECK(shell_words({"it's"}) == "$'it\\047s'");
  CHECK(shell_words({"\xff\n"}) == "$'\\377\\012'");
  CHECK(shell_words({""}) == "''");
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
