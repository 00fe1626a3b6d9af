// SPDX-License-Identifier: Apache-2.0
#include "reports/off_by.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

namespace ttcheck::reports {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST_CASE("shares are percent of two digits") {
  struct Row {
    double share;
    const char* words;
  };
  for (const Row& row : {Row{0, "0 %"},
                         {0.587, "59 %"},
                         {-0.587, "59 %"},
                         {0.0996, "10 %"},
                         {0.0113, "1.1 %"},
                         {2.37e-6, "0.00024 %"},
                         {1, "100 %"},
                         {1.234, "120 %"},
                         {12.34, "1,200 %"},
                         {0.9949, "99 %"},
                         {1e-12, "1.0e-10 %"},
                         {4e8, "4.0e+10 %"},
                         {kInfinite, "inf"}}) {
    CHECK(in_percent(row.share) == row.words);
  }
}

TensorResult result_of(LimitKind kind, Test test, double error, double allowed) {
  TensorResult result;
  result.by_limit = Outcome::diverged;
  result.limit.kind = kind;
  result.limit.source = "copy: the others are equal";
  result.test = test;
  result.error = error;
  result.allowed = allowed;
  result.ratio = error / allowed;
  result.metrics.count = 384;
  result.metrics.unequal_values = 192;
  result.metrics.sum_a2 = 1;
  result.metrics.sum_b2 = 1;
  result.metrics.sum_d2 = 0.0004;
  return result;
}

TEST_CASE("how far it is off, beside what explains so much") {
  CHECK(off_words(result_of(LimitKind::model, Test::rel, 0.587, 2.37e-6)) ==
        "it is off by 59 %, 250,000 times what rounding explains (0.00024 %)");
  CHECK(off_words(result_of(LimitKind::model, Test::row, 0.587, 0.3)) ==
        "its worst row is off by 59 %, 2.0 times what rounding explains (30 %): borderline");
  CHECK(off_words(result_of(LimitKind::measured, Test::rel, 0.5, 0.1)) ==
        "it is off by 50 %, 5.0 times what repeated runs showed (10 %)");
  CHECK(off_words(result_of(LimitKind::copy, Test::exact, 0.02, 0)) ==
        "192 of 384 elements differ, by 2.0 % in all; the two are copies, so none should");
  CHECK(off_words(result_of(LimitKind::tolerance, Test::elementwise, 12, 1)) ==
        "its worst element is off by 12 times what is tolerated");
}

TEST_CASE("as cells of a table") {
  const TensorResult model = result_of(LimitKind::model, Test::rel, 0.587, 2.37e-6);
  CHECK(off_cell(model) == "59 %");
  CHECK(explained_cell(model) == "0.00024 %");
  const TensorResult copy = result_of(LimitKind::copy, Test::exact, 5, 0);
  CHECK(off_cell(copy) == "2.0 %");
  CHECK(explained_cell(copy) == "0 %");
  TensorResult odd = copy;
  odd.metrics.non_finite_disagree = 1;
  CHECK(off_cell(odd) == "NaN");
  CHECK(off_words(odd) == "1 of 384 elements is NaN or infinite on one side only");
}

TEST_CASE("both values have the digits that tell them apart") {
  TensorResult result;
  CHECK(values_words(result).empty());
  result.values = {-0.23357, -2.5927};
  CHECK(values_words(result) == "-0.2336 in the reference, -2.593 in the candidate");
  result.values = {1.0000001, 1.0000002};
  CHECK(values_words(result) == "1.0000001 in the reference, 1.0000002 in the candidate");
}

}  // namespace
}  // namespace ttcheck::reports
