// SPDX-License-Identifier: Apache-2.0
#include "reports/curve.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "reports/terminal.hpp"

namespace ttcheck::reports {
namespace {

TensorResult record(Outcome outcome, double ratio, Phase phase = Phase::forward) {
  TensorResult one;
  one.step = 7;
  one.identity = {"layers.0/output.0", phase, 0, 0};
  one.by_limit = outcome;
  one.ratio = one.error = ratio;
  one.trace = std::make_shared<TraceRecord>();
  return one;
}

std::vector<const TensorResult*> pointers(const std::vector<TensorResult>& results) {
  std::vector<const TensorResult*> all;
  for (const TensorResult& one : results) all.push_back(&one);
  return all;
}

TEST_CASE("a mark stands at the decade of its error against the limit") {
  const std::vector<TensorResult> results = {
      record(Outcome::equal, 0),          record(Outcome::noise, 0.1),
      record(Outcome::noise, 0.9),        record(Outcome::diverged, 1000),
      record(Outcome::diverged, 10.1),    record(Outcome::not_comparable, 0),
      record(Outcome::diverged, HUGE_VAL)};
  const Curve curve = curve_of(pointers(results), 80);
  CHECK(curve.lines == std::vector<std::string>{
                           "      1000 |   #  !",
                           "       316 |",
                           "       100 |",
                           "      31.6 |",
                           "        10 |    #",
                           "      3.16 |",
                           "   limit 1 |--*----",
                           "     0.316 |",
                           "       0.1 | *",
                           "     equal |.    x",
                       });
  CHECK(curve.margin == curve.lines.front().find('|') + 1);
  CHECK(curve.per_column == 1);
}

TEST_CASE("a column that several share shows the worst") {
  std::vector<TensorResult> results(1000, record(Outcome::equal, 0));
  results[617] = record(Outcome::diverged, 3);
  results[618] = record(Outcome::noise, 0.5);
  const Curve curve = curve_of(pointers(results), 62);
  CHECK(curve.per_column == 20);
  const std::size_t at = curve.column_of[617];
  CHECK(at == 30);
  CHECK(curve.lines.front() == "      3.16 |" + std::string(at, ' ') + "#");
  CHECK(curve.lines.back().size() == curve.margin + 50);
  CHECK(curve.lines.back()[curve.margin + at] == ' ');
}

TEST_CASE("what lies far below the limit stands four decades below it") {
  for (const double ratio : {1e-4, 1e-9}) {
    const std::vector<TensorResult> results = {record(Outcome::noise, ratio)};
    CHECK(curve_of(pointers(results), 80).lines ==
          std::vector<std::string>{"   limit 1 |-", "     0.316 |", "       0.1 |", "    0.0316 |",
                                   "      0.01 |", "   0.00316 |", "     0.001 |", "  0.000316 |",
                                   "    0.0001 |*", "     equal |"});
  }
}

TEST_CASE("the worse of two in a column, and the first of equals") {
  const TensorResult lost = record(Outcome::not_comparable, 0), same = record(Outcome::equal, 0),
                     low = record(Outcome::noise, 0.25), high = record(Outcome::noise, 0.5),
                     wrong = record(Outcome::diverged, 3),
                     odd = record(Outcome::diverged, std::nan(""));
  const std::vector<TensorResult> order = {lost, same, low, high, wrong, odd};
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    for (const bool turned : {false, true}) {
      CAPTURE(i);
      CAPTURE(turned);
      std::vector<TensorResult> results;
      for (int pair = 0; pair < 20; ++pair) {  // as many columns as there are at least
        results.push_back(order[turned ? i + 1 : i]);
        results.push_back(order[turned ? i : i + 1]);
      }
      const Curve two = curve_of(pointers(results), 0);
      REQUIRE(two.per_column == 2);
      std::string marks;
      for (const std::string& line : two.lines) {
        for (const char mark : line.substr(two.margin)) {
          if (mark != ' ' && mark != '-') marks += mark;
        }
      }
      CHECK(marks == std::string(20, ".**#!"[i]));
    }
  }
}

TEST_CASE("columns: one a result, at most as many as the width has, at least twenty") {
  struct Row {
    std::size_t results;
    int width;
    std::size_t per_column, last;
  };
  for (const Row& row :
       {Row{1, 80, 1, 0}, Row{68, 80, 1, 67}, Row{69, 80, 2, 67}, Row{100, 33, 5, 20},
        Row{100, 32, 5, 19}, Row{100, -1, 5, 19}, Row{101, 32, 6, 19}}) {
    const std::vector<TensorResult> results(row.results, record(Outcome::equal, 0));
    const Curve curve = curve_of(pointers(results), row.width);
    CAPTURE(row.results);
    CHECK(curve.per_column == row.per_column);
    CHECK(curve.column_of.front() == 0);
    CHECK(curve.column_of.back() == row.last);
  }
}

TEST_CASE("any number has a place, in any width") {
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  constexpr double kHuge = std::numeric_limits<double>::max();
  const std::vector<TensorResult> results = {record(Outcome::noise, kTiny),
                                             record(Outcome::diverged, kHuge),
                                             record(Outcome::diverged, std::nan(""))};
  for (const int width : {-1, 0, 1, 40, 100000}) {
    const Curve curve = curve_of(pointers(results), width);
    CHECK(curve.lines.size() <= 12);
    CHECK(curve.lines.front().ends_with("| #!"));
  }
  CHECK(curve_of({}, 80).lines.empty());
}

TEST_CASE("the curve tells phases, where the first difference is, and what stands beside it") {
  Verdict verdict;
  verdict.command = "diff";
  verdict.outcome = Outcome::diverged;
  for (int i = 0; i < 12; ++i) {
    verdict.tensors.push_back(record(i < 8 ? Outcome::noise : Outcome::diverged, i < 8 ? 0.1 : 100,
                                     i < 10 ? Phase::forward : Phase::loss));
    verdict.tensors.back().identity.name = "layers." + std::to_string(i) + "/output.0";
  }
  verdict.first = Divergence{};
  verdict.first->step = 7;
  verdict.first->tensor = "layers.8/output.0";
  verdict.first->phase = Phase::forward;
  CHECK(write_terminal(verdict, {}).find("Error against limit") == std::string::npos);
  const std::string text = write_terminal(verdict, {.verbose = 2});
  CHECK(text.find("\nError against limit, step 7\n") != text.npos);
  CHECK(text.find("\n            |forward  |\n") != text.npos);  // `loss` has no room
  CHECK(text.find("\n                    ^ forward layers.8/output.0\n") != text.npos);
  CHECK(text.find("\n>  forward layers.8/output.0  ") != text.npos);
  CHECK(text.find("\n   forward layers.2/output.0  ") != text.npos);
  CHECK(text.find("\n   forward layers.1/output.0  ") == text.npos);
}

}  // namespace
}  // namespace ttcheck::reports
