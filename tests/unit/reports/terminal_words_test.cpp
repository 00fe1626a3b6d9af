// SPDX-License-Identifier: Apache-2.0
// The words of the screen that more than one section uses, and the sections that are a table alone.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "reports/first.hpp"
#include "reports/terminal_parts.hpp"

namespace ttcheck::reports {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// A thousand elements of which two differ; |d| = 0.5 and |a| = 2.
TensorResult result_of(LimitKind kind, Test test) {
  TensorResult result;
  result.limit.kind = kind;
  result.limit.rel = 0.125;
  result.limit.source = "so";
  result.test = test;
  result.error = 0.75;
  result.allowed = 0.25;
  result.ratio = 3;
  result.metrics.count = 1000;
  result.metrics.unequal_values = 2;
  result.metrics.sum_d2 = 0.25;
  result.metrics.sum_a2 = 4;
  result.metrics.sum_b2 = 4;
  result.metrics.max_abs = 0.5;
  return result;
}

TEST_CASE("what an error is, against which limit") {
  struct Row {
    std::string what;
    TensorResult result;
    std::string words;
  };
  const auto with = [](TensorResult result, const std::function<void(TensorResult&)>& change) {
    change(result);
    return result;
  };
  const TensorResult model = result_of(LimitKind::model, Test::rel);
  const std::string exact = "2 of 1,000 elements differ, relative error 0.25; none may (so)";
  const std::vector<Row> rows = {
      {"by the whole", model, "0.75 relative, 3 times the limit 0.25 (so)"},
      {"by a row", result_of(LimitKind::measured, Test::row),
       "0.75 in the worst row, 3 times the limit 0.25 (so)"},
      {"by an element", result_of(LimitKind::model, Test::outlier),
       "0.75 at the worst element, 3 times the limit 0.25 (so)"},
      {"by a tolerance", result_of(LimitKind::tolerance, Test::elementwise),
       "the worst element is off by 0.75 times what is tolerated (so)"},
      {"of no ratio", with(model, [](auto& one) { one.ratio = 0; }),
       "0.75 relative, 0 times the limit 0.25 (so)"},
      {"exact", result_of(LimitKind::exact, Test::exact), exact},
      {"a copy", result_of(LimitKind::copy, Test::exact), exact},
      {"no tolerance",
       with(result_of(LimitKind::tolerance, Test::elementwise),
            [](auto& one) { one.error = kInfinite; }),
       "2 of 1,000 elements differ where no difference is tolerated (so)"},
      {"recomputed", result_of(LimitKind::model, Test::recomputed),
       "0.75 off what its own inputs give, 3 times what rounding explains; 0.25 relative, within "
       "its limit 0.125 (so)"},
      {"not finite", with(model, [](auto& one) { one.metrics.non_finite_disagree = 7; }),
       "NaN or Inf on one side only at 7 of 1,000 elements"},
      {"no values", with(model, [](auto& one) { one.metrics.count = 0; }),
       "3 times the limit (so)"},
      {"a source that would move the cursor",
       with(model, [](auto& one) { one.limit.source = "\x1b[A"; }),
       "0.75 relative, 3 times the limit 0.25 (\\x1b[A)"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(error_words(row.result) == row.words);
  }
}

TEST_CASE("the limit beside an error is that of the test that decided") {
  TensorResult result = result_of(LimitKind::model, Test::row);
  CHECK(result.limit_shown() == 0.25);
  result.test = Test::none;
  CHECK(result.limit_shown() == 0.125);
}

TEST_CASE("how far apart elements are") {
  TensorResult result = result_of(LimitKind::model, Test::rel);
  result.shape = {10, 100};
  const std::string rest = ", norm ratio 1, 2 of 1,000 elements differ";
  // cos = 1 - |d|^2 / (2 |a| |b|) for equal norms
  CHECK(size_words(result) == "max |b-a| 0.5, cosine 0.96875" + rest);
  result.metrics.max_abs_index = 203;
  CHECK(size_words(result) == "max |b-a| 0.5 at [2, 3], cosine 0.96875" + rest);
  result.metrics.max_abs_index = 0;
  result.shape = {};
  CHECK(size_words(result) == "max |b-a| 0.5, cosine 0.96875" + rest);
}

TEST_CASE("a run in words") {
  RunSummary run{"p", "hf", {}, {}, 1, 4};
  CHECK(run_words(run) == "hf, 1 tensor, 4 B");
  run.steps = {7};
  CHECK(run_words(run) == "hf, 1 tensor, 4 B, step 7");
  run.steps = {7, 8, 9};
  run.mesh.axes = {{"tp", 4}};
  run.tensors = 312;
  CHECK(run_words(run) == "hf, tp=4, 312 tensors, 4 B, steps 7-9");
}

TEST_CASE("which result and which finding are about the first difference") {
  struct Told {
    std::string tensor = "w";
    std::int64_t step = 3;
    Phase phase = Phase::forward;
    std::int32_t microbatch = 0;
    Outcome outcome = Outcome::diverged;
  };
  const std::vector<std::pair<Told, bool>> results = {
      {{}, true},
      {{"v"}, false},
      {{"w", 4}, false},
      {{"w", 3, Phase::backward}, false},
      {{"w", 3, Phase::forward, 1}, false},
      {{"w", 3, Phase::forward, 0, Outcome::noise}, false},
  };
  for (const auto& [told, found] : results) {
    Verdict verdict;
    TensorResult& result = verdict.tensors.emplace_back();
    result.identity = {told.tensor, told.phase, told.microbatch};
    result.step = told.step;
    result.by_limit = told.outcome;
    CHECK(result_of_first(verdict) == nullptr);
    verdict.first = Divergence{3, 0, Phase::forward, "", "w", {}, {}, {}, {}};
    CHECK((result_of_first(verdict) == &result) == found);
    if (told.microbatch == 0) continue;
    verdict.first->microbatch.reset();  // where none is named, any
    CHECK(result_of_first(verdict) == &result);
  }
}

TEST_CASE("the finding that says why comes before others, and notes do not count") {
  struct Told {
    Severity severity = Severity::error;
    bool why = false;
    std::string tensor = "w";
  };
  struct Row {
    std::string what;
    std::vector<Told> told;
    std::ptrdiff_t found;  ///< -1: none
  };
  const std::vector<Row> rows = {
      {"none", {}, -1},
      {"the first", {{}, {}}, 0},
      {"a warning", {{Severity::warning}, {}}, 0},
      {"behind a note", {{Severity::note, true}, {}}, 1},
      {"that says why", {{}, {Severity::error, true}, {Severity::error, true}}, 1},
      {"of another tensor", {{Severity::error, true, "v"}, {}}, 1},
      {"of others alone", {{Severity::error, true, "v"}}, -1},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Verdict verdict;
    for (const Told& told : row.told) {
      Finding& finding = verdict.findings.emplace_back();
      finding.severity = told.severity;
      finding.tensor = told.tensor;
      if (told.why) finding.hypotheses.emplace_back();
    }
    CHECK(finding_of_first(verdict) == nullptr);
    verdict.first = Divergence{};
    verdict.first->tensor = "w";
    CHECK(finding_of_first(verdict) ==
          (row.found < 0 ? nullptr : &verdict.findings[0] + row.found));
  }
}

TEST_CASE("facts that differ, and with --all those of one side") {
  Verdict verdict;
  verdict.facts = {{"a", FactValue(std::int64_t{1}), FactValue(std::int64_t{1}), "equal"},
                   {"b", FactValue(std::int64_t{1}), FactValue(std::int64_t{22}), "differs"},
                   {"c", {}, FactValue(std::string("x")), "only-candidate"}};
  CHECK(facts_section(verdict, {}) ==
        "\nFacts that differ  reference  candidate\nb                  1          22\n");
  CHECK(facts_section(verdict, {.all = true}) ==
        "\nFacts that differ  reference  candidate\nb                  1          22\n"
        "c                  -          x\n");
  CHECK(facts_section(verdict, {.color = true}).starts_with("\n\x1b[1mFacts that differ "));
  verdict.facts.resize(1);
  CHECK(facts_section(verdict, {.all = true}).empty());
  verdict.facts[0].verdict = "differs";
  verdict.facts[0].candidate = FactValue(std::string(61, 'x'));
  CHECK(facts_section(verdict, {}).find(std::string(61, 'x')) == std::string::npos);
}

TEST_CASE("what a search came to") {
  Verdict verdict;
  CHECK(search_section(verdict, {}).empty());
  verdict.search.emplace();
  Search& search = *verdict.search;
  search.axis = "steps";
  search.first_bad_step = 12;
  search.examined = 4;
  search.total = 1024;
  search.bytes_read = 1024;
  search.bytes_total = 2048;
  search.log = {"step 1: equal"};
  const std::string examined = "  examined   4 of 1,024; 1 KiB read, where all of it is 2 KiB\n";
  CHECK(search_section(verdict, {}) ==
        "\nSearch over steps\n  first bad  step 12\n  last good  none\n" + examined);
  search.axis = "ops";
  search.first_bad_step.reset();
  search.first_bad_op = "l.1";
  search.last_good_op = "l.0\n";
  CHECK(search_section(verdict, {.verbose = 2}) ==
        "\nSearch over ops\n  first bad  l.1\n  last good  l.0\\n\n" + examined +
            "             step 1: equal\n");
}

}  // namespace
}  // namespace ttcheck::reports
