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
  one.outcome = outcome;
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
  const std::string text = write_terminal(verdict, {.verbose = 1});
  CHECK(text.find("\nError against limit, step 7\n") != text.npos);
  CHECK(text.find("\n            |forward  |\n") != text.npos);  // `loss` has no room
  CHECK(text.find("\n                    ^ forward layers.8/output.0\n") != text.npos);
  CHECK(text.find("\n>  forward layers.8/output.0  ") != text.npos);
  CHECK(text.find("\n   forward layers.2/output.0  ") != text.npos);
  CHECK(text.find("\n   forward layers.1/output.0  ") == text.npos);
}

}  // namespace
}  // namespace ttcheck::reports
