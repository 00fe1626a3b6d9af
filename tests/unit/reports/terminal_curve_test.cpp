// SPDX-License-Identifier: Apache-2.0
// Error against limit over the step of the first difference, and the records beside it.

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/terminal_parts.hpp"

namespace ttcheck::reports {
namespace {

TensorResult record(std::string name, std::optional<std::int64_t> step = 7,
                    Phase phase = Phase::none) {
  TensorResult one;
  one.identity = {std::move(name), phase};
  one.step = step;
  one.limit.rel = 0.5;
  one.trace = std::make_shared<TraceRecord>();
  return one;
}

/// Beyond its limit of 0.5, by one row of the curve.
void diverge(TensorResult& one) {
  one.by_limit = Outcome::diverged;
  one.error = 0.89;
  one.allowed = 0.5;
  one.ratio = 1.78;
}

void make_first(Verdict& verdict, const TensorResult& one) {
  verdict.first = Divergence{};
  verdict.first->step = one.step;
  verdict.first->phase = one.identity.phase;
  verdict.first->tensor = one.identity.name;
}

std::string line_with(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  if (at == text.npos) return "";
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

/// Twelve records: loss, sync and clip, the eighth beyond its limit.
Verdict stepped() {
  Verdict verdict;
  for (int i = 0; i < 12; ++i) {
    const Phase phase = i < 5 ? Phase::loss : i < 8 ? Phase::sync : Phase::clip;
    verdict.tensors.push_back(record("w." + std::to_string(i), 7, phase));
  }
  diverge(verdict.tensors[7]);
  verdict.tensors[7].limit.measured = 0.25;
  verdict.tensors[9].by_limit = Outcome::not_comparable;
  verdict.tensors[9].error = verdict.tensors[9].ratio = 3;
  return verdict;
}

const std::string kLegend =
    "             12 records in causal order; # beyond the limit, * within it, . equal, x not "
    "comparable\n";
const std::string kCurve =
    "      1.78 |       #\n"
    "   limit 1 |------------\n"
    "     equal |....... .x..\n"
    "            |loss|  |\n";  // `sync` and `clip` have no room

TEST_CASE("the step as a curve, the first difference, and what stands beside it") {
  Verdict verdict = stepped();
  make_first(verdict, verdict.tensors[7]);
  verdict.tensors[7].identity.name = verdict.first->tensor = "w\n";
  const std::string heading = "   Around the first difference  error  limit  ratio  correct runs";
  const std::string rows =
      "   loss w.1                         0    0.5      0                equal\n"
      "   loss w.2                         0    0.5      0                equal\n"
      "   loss w.3                         0    0.5      0                equal\n"
      "   loss w.4                         0    0.5      0                equal\n"
      "   sync w.5                         0    0.5      0                equal\n"
      "   sync w.6                         0    0.5      0                equal\n"
      ">  sync w\\n                      0.89    0.5   1.78          0.25  diverged\n"
      "   clip w.8                         0    0.5      0                equal\n"
      "   clip w.9                                                        not-comparable\n"
      "   clip w.10                        0    0.5      0                equal\n";
  const std::string pointer = "                   ^ sync w\\n\n";
  CHECK(curve_section(verdict, {.verbose = 2}) == "\nError against limit, step 7\n" + kLegend +
                                                      kCurve + pointer + "\n" + heading + "\n" +
                                                      rows);
  CHECK(curve_section(verdict, {.color = true, .verbose = 2}) ==
        "\n\x1b[1mError against limit, step 7\x1b[0m\n" + kLegend + kCurve + pointer + "\n\x1b[1m" +
            heading + "\x1b[0m\n" + rows);
}

TEST_CASE("no place is pointed at where no record is the first difference") {
  Verdict verdict = stepped();
  const std::string curve = "\nError against limit, step 7\n" + kLegend + kCurve;
  CHECK(curve_section(verdict, {.verbose = 2}) == curve);
  make_first(verdict, verdict.tensors[6]);  // which has not diverged
  CHECK(curve_section(verdict, {.verbose = 2}) == curve);
  CHECK(curve_section(verdict, {.verbose = 0}).empty());
}

TEST_CASE("records without a step and without a phase") {
  Verdict verdict;
  verdict.tensors = {record("a", {}), record("b", {})};
  CHECK(curve_section(verdict, {.verbose = 2}) ==
        "\nError against limit\n"
        "             2 records in causal order; # beyond the limit, * within it, . equal\n"
        "   limit 1 |--\n"
        "     equal |..\n"
        "            |\n");
}

TEST_CASE("the legend tells of marks that are drawn") {
  Verdict verdict;
  verdict.tensors = {record("x", {}), record("!", {})};
  const auto legend = [&] {
    const std::string text = curve_section(verdict, {.verbose = 2, .width = 200});
    const std::size_t at = text.find("; ");
    return text.substr(at, text.find('\n', at) - at);
  };
  CHECK(legend() == "; # beyond the limit, * within it, . equal");
  verdict.tensors[0].by_limit = Outcome::diverged;
  verdict.tensors[0].ratio = HUGE_VAL;
  CHECK(legend() == "; # beyond the limit, * within it, . equal, ! beyond it without a number");
  verdict.tensors[1].by_limit = Outcome::not_comparable;
  CHECK(
      legend() ==
      "; # beyond the limit, * within it, . equal, ! beyond it without a number, x not comparable");
}

TEST_CASE("records that share a column, and a phase that has none of its own") {
  Verdict verdict;  // 108 columns, of which the first has two records
  verdict.tensors.push_back(record("a", 7, Phase::loss));
  for (int i = 0; i < 108; ++i) verdict.tensors.push_back(record("a", 7, Phase::clip));
  CHECK(curve_section(verdict, {.verbose = 2, .width = 120}) ==
        "\nError against limit, step 7\n"
        "             109 records in causal order, the worst of up to 2 in a column; # beyond the "
        "limit, * within it, . equal\n"
        "   limit 1 |" +
            std::string(108, '-') + "\n     equal |" + std::string(108, '.') +
            "\n            |clip\n");
}

TEST_CASE("the place is pointed at from its right, or from its left where only that has room") {
  struct Row {
    std::string what;
    std::size_t name;  ///< its length
    int width;
    bool right;
  };
  const std::vector<Row> rows = {
      {"room on both sides", 5, 100, true},   {"just enough to the right", 5, 20, true},
      {"one column less", 5, 19, false},      {"just enough to the left", 12, 26, false},
      {"room on neither side", 13, 26, true},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const std::string name(row.name, 'b');
    Verdict verdict;
    verdict.tensors = {record("a"), record(name)};
    diverge(verdict.tensors[1]);
    make_first(verdict, verdict.tensors[1]);
    const std::string text = curve_section(verdict, {.verbose = 2, .width = row.width});
    CHECK(line_with(text, "^") == (row.right ? std::string(13, ' ') + "^ " + name
                                             : std::string(12 - row.name, ' ') + name + " ^"));
  }
}

TEST_CASE("which step is shown: that of the first difference, else that of the largest error") {
  struct Told {
    std::int64_t step;
    double ratio;
    bool traced = true;
  };
  struct Row {
    std::string what;
    std::vector<Told> told;
    int first;          ///< -1: none
    std::string title;  ///< empty: nothing is shown
    std::string records;
  };
  const std::string title = "Error against limit, step ";
  const std::string two = "2 records in causal order; # beyond the limit, * within it, . equal";
  const std::vector<Row> rows = {
      {"nothing", {}, -1, "", ""},
      {"one record", {{7, 1}}, -1, "", ""},
      {"no records", {{7, 1, false}, {7, 2, false}}, -1, "", ""},
      {"no records, but a difference", {{7, 1, false}, {7, 2, false}}, 0, "", ""},
      {"the larger ratio first", {{7, 2}, {7, 1}, {8, 1}, {8, 1}}, -1, title + "7", two},
      {"the larger ratio behind", {{7, 1}, {7, 1}, {8, 1}, {8, 2}}, -1, title + "8", two},
      {"equal ratios", {{7, 1}, {7, 1}, {8, 1}, {8, 1}}, -1, title + "7", two},
      {"a first difference", {{7, 1}, {7, 1}, {8, 1}, {8, 2}}, 0, title + "7", two},
      {"the first difference behind", {{7, 1}, {7, 2}, {8, 1}, {8, 1}}, 2, title + "8", two},
      {"the largest is no record", {{7, 1}, {7, 1}, {8, 2, false}}, -1, title + "7", two},
      {"the first is no record", {{8, 2, false}, {7, 1}, {7, 1}}, -1, title + "7", two},
      {"not all are records", {{7, 1}, {7, 1, false}, {7, 1}}, -1, title + "7", two},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Verdict verdict;
    for (const auto& [step, ratio, traced] : row.told) {
      verdict.tensors.push_back(record("w." + std::to_string(verdict.tensors.size()), step));
      verdict.tensors.back().ratio = ratio;
      verdict.tensors.back().by_limit = Outcome::diverged;
      if (!traced) verdict.tensors.back().trace.reset();
    }
    if (row.first >= 0) make_first(verdict, verdict.tensors[static_cast<std::size_t>(row.first)]);
    const std::string text = curve_section(verdict, {.verbose = 2});
    CHECK(line_with(text, title) == row.title);
    CHECK(line_with(text, "records") ==
          (row.records.empty() ? "" : std::string(13, ' ') + row.records));
    CHECK(text.empty() == row.title.empty());
  }
}

}  // namespace
}  // namespace ttcheck::reports
