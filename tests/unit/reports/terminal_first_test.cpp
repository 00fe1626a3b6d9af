// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "reports/first.hpp"
#include "reports/terminal_parts.hpp"

namespace ttcheck::reports {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TensorResult result(Test test) {
  TensorResult made;
  made.identity.name = "w";
  made.by_limit = Outcome::diverged;
  made.shape = {2, 3};
  made.limit.kind = LimitKind::model;
  made.limit.rel = 0.25;
  made.limit.source = "spec";
  made.metrics.count = 2000;
  made.metrics.unequal_values = 1500;
  made.metrics.sum_d2 = 1;
  made.metrics.sum_a2 = 4;
  made.metrics.sum_b2 = 9;
  made.error = 6;
  made.allowed = 2;
  made.ratio = 3;
  made.test = test;
  return made;
}

TEST_CASE("the error is said in the words of the test that decided") {
  struct {
    Test test;
    const char* text;
  } const rows[] = {
      {Test::rel, "6 relative, 3 times the limit 2 (spec)"},
      {Test::row, "6 in the worst row, 3 times the limit 2 (spec)"},
      {Test::outlier, "6 at the worst element, 3 times the limit 2 (spec)"},
      {Test::elementwise, "the worst element is off by 6 times what is tolerated (spec)"},
      {Test::energy, "6 energy distance, 3 times the limit 2 (spec)"},
      {Test::recomputed,
       "6 off what its own inputs give, 3 times what rounding explains; 0.5 relative, within its "
       "limit 0.25 (spec)"},
      {Test::lean,
       "6 to one side in most values, 3 times what rounding explains; 0.5 relative, beside a "
       "limit of 0.25 (spec)"},
      {Test::own,
       "6 behind inputs that are equal, 3 times what rounding explains; 0.5 relative, beside a "
       "limit of 0.25 (spec)"},
  };
  for (const auto& row : rows) {
    INFO(name(row.test));
    CHECK(error_words(result(row.test)) == row.text);
  }
}

TEST_CASE("what has no error beside a limit says what it has") {
  TensorResult stored = result(Test::rel);
  stored.metrics.count = 0;
  CHECK(error_words(stored) == "3 times the limit (spec)");

  TensorResult lost = result(Test::rel);
  lost.metrics.non_finite_disagree = 1;
  CHECK(error_words(lost) == "NaN or Inf on one side only at 1 of 2,000 elements");

  for (const LimitKind kind : {LimitKind::exact, LimitKind::copy}) {
    TensorResult exact = result(Test::exact);
    exact.limit.kind = kind;
    CHECK(error_words(exact) ==
          "1,500 of 2,000 elements differ, relative error 0.5; none may (spec)");
  }

  TensorResult intolerant = result(Test::elementwise);
  intolerant.error = kInfinite;
  CHECK(error_words(intolerant) ==
        "1,500 of 2,000 elements differ where no difference is tolerated (spec)");
  intolerant.test = Test::rel;
  CHECK(error_words(intolerant) == "inf relative, 3 times the limit 2 (spec)");

  TensorResult none = result(Test::rel);
  none.ratio = 0;
  CHECK(error_words(none) == "6 relative, 0 times the limit 2 (spec)");
  none.limit.source = "a\nb";
  CHECK(error_words(none) == "6 relative, 0 times the limit 2 (a\\nb)");
}

TEST_CASE("how far the elements are apart, and where the furthest is") {
  TensorResult made = result(Test::rel);
  made.metrics.max_abs = 0.5;
  made.metrics.max_abs_index = 5;
  const std::string rest = ", cosine 1, norm ratio 1.5, 1,500 of 2,000 elements differ";
  CHECK(size_words(made) == "max |b-a| 0.5 at [1, 2]" + rest);
  made.metrics.max_abs_index = 0;
  CHECK(size_words(made) == "max |b-a| 0.5 at [0, 0]" + rest);
  made.metrics.max_abs_index = -1;
  CHECK(size_words(made) == "max |b-a| 0.5" + rest);
  made.metrics.max_abs_index = 0;
  made.shape = {};
  CHECK(size_words(made) == "max |b-a| 0.5" + rest);
}

Verdict about(const TensorResult& tensor) {
  Verdict verdict;
  verdict.tensors = {tensor};
  verdict.first = Divergence{};
  verdict.first->tensor = tensor.identity.name;
  verdict.first->phase = tensor.identity.phase;
  verdict.first->step = tensor.step;
  return verdict;
}

std::string plain(const TensorResult& tensor) { return first_section(about(tensor), {}); }

constexpr const char* kError = "  error      6 relative, 3 times the limit 2 (spec)\n";
constexpr const char* kSize =
    "  size       max |b-a| 0, cosine 1, norm ratio 1.5, 1,500 of 2,000 elements differ\n";

TEST_CASE("without a first difference there is nothing") {
  CHECK(first_section({}, {}).empty());
  CHECK(result_of_first({}) == nullptr);
  CHECK(finding_of_first({}) == nullptr);
}

TEST_CASE("the first difference: where, what tensor, how far") {
  TensorResult made = result(Test::rel);
  CHECK(plain(made) ==
        std::string("\nFirst difference\n  where      w\n  tensor     f32 [2, 3]\n") + kError +
            kSize);
  made.candidate_name = "w";
  made.candidate_dtype = DType::bf16;
  made.metrics.count = 0;
  CHECK(plain(made) ==
        "\nFirst difference\n  where      w\n  tensor     f32 [2, 3], bf16 in the candidate\n"
        "  error      3 times the limit (spec)\n");
  made.candidate_name = "model\n.w";
  CHECK(plain(made) ==
        "\nFirst difference\n  where      w\n"
        "  tensor     f32 [2, 3], bf16 in the candidate, there named model\\n.w\n"
        "  error      3 times the limit (spec)\n");
}

TEST_CASE("where it is in a trace") {
  Verdict verdict;
  verdict.first = Divergence{};
  const auto where = [&] {
    const std::string text = first_section(verdict, {});
    return text.substr(text.find("where      ") + 11);
  };
  verdict.first->op = "layers.0\x1b";
  CHECK(where() == "layers.0\\x1b\n");
  verdict.first->tensor = "layers.0/output.0";
  CHECK(where() == "layers.0/output.0\n");
  verdict.first->phase = Phase::forward;
  CHECK(where() == "forward layers.0/output.0\n");
  verdict.first->step = 0;
  verdict.first->microbatch = 0;
  verdict.first->index = Extents{};
  CHECK(where() == "forward layers.0/output.0, step 0\n");
  verdict.first->microbatch = 1;
  verdict.first->index = Extents{4, 0};
  CHECK(where() == "forward layers.0/output.0, step 0, micro-batch 1, element [4, 0]\n");
  verdict.first->ranks = {0, 1, 2, 5};
  CHECK(where() ==
        "forward layers.0/output.0, step 0, micro-batch 1, element [4, 0]\n"
        "  ranks      0-2,5\n");
  verdict.first->axes = {{"tp", {1}}};
  CHECK(where() ==
        "forward layers.0/output.0, step 0, micro-batch 1, element [4, 0]\n"
        "  ranks      0-2,5 (tp=1)\n");
}

TEST_CASE("the result it is about has its step, phase, micro-batch, and diverged") {
  TensorResult made = result(Test::rel);
  made.step = 3;
  made.identity.phase = Phase::forward;
  made.identity.microbatch = 2;
  Verdict verdict = about(made);
  CHECK(result_of_first(verdict) == &verdict.tensors[0]);
  verdict.first->microbatch = 2;
  CHECK(result_of_first(verdict) == &verdict.tensors[0]);
  verdict.first->microbatch = 1;
  CHECK(result_of_first(verdict) == nullptr);
  const auto unlike = [&](auto change) {
    Verdict other = about(made);
    change(other.tensors[0]);
    return result_of_first(other) == nullptr;
  };
  CHECK(unlike([](TensorResult& one) { one.by_limit = Outcome::noise; }));
  CHECK(unlike([](TensorResult& one) { one.step = 4; }));
  CHECK(unlike([](TensorResult& one) { one.identity.phase = Phase::backward; }));
  CHECK(unlike([](TensorResult& one) { one.identity.name = "v"; }));
  CHECK(unlike([](TensorResult& one) { one.identity.call = 1; }));
}

Finding finding(Code code, const std::string& message) {
  Finding made;
  made.code = code;
  made.tensor = "w";
  made.message = message;
  return made;
}

TEST_CASE("the finding about it that says why, else the first; a note never") {
  Verdict verdict = about(result(Test::rel));
  verdict.findings = {finding(Code::bit_flip, "elsewhere"), finding(Code::bit_flip, "a note"),
                      finding(Code::bit_flip, "first"), finding(Code::bit_flip, "second")};
  verdict.findings[0].tensor = "v";
  verdict.findings[1].severity = Severity::note;
  verdict.findings[1].hypotheses = {{"scale", {}, 0, 1}};
  CHECK(finding_of_first(verdict) == &verdict.findings[2]);
  verdict.findings[3].hypotheses = {{"scale", {{"k", 0.5}}, 0.125, 1}};
  CHECK(finding_of_first(verdict) == &verdict.findings[3]);
  const std::string why = fmt::format("  why        {} {}: second (scale k=0.5, residual 0.125)\n",
                                      to_string(Code::bit_flip), info(Code::bit_flip).name);
  CHECK(first_section(verdict, {}).ends_with(kSize + why));
  verdict.findings.pop_back();
  const std::string first = fmt::format("  why        {} {}: first\n", to_string(Code::bit_flip),
                                        info(Code::bit_flip).name);
  CHECK(first_section(verdict, {}).ends_with(kSize + first));
}

TEST_CASE("A10 why is said of the same call and micro-batch, not of another record of that name") {
  Verdict verdict = about(result(Test::rel));
  verdict.first->microbatch = 1;
  verdict.tensors[0].identity.microbatch = 1;
  verdict.findings = {finding(Code::unexpected, "another call"), finding(Code::scale, "earlier"),
                      finding(Code::diverged, "its own")};
  verdict.findings[0].call = 2;
  verdict.findings[0].microbatch = 1;
  verdict.findings[1].hypotheses = {{"scale", {}, 0, 1}};
  verdict.findings[2].microbatch = 1;
  CHECK(finding_of_first(verdict) == &verdict.findings[2]);
}

TEST_CASE(
    "A10 what stands in front of the first difference and may be its cause is said before it") {
  Verdict verdict = about(result(Test::rel));
  verdict.findings = {finding(Code::omission, "no optimizer.pt"),
                      finding(Code::omission, "part of a tensor"),
                      finding(Code::config, "a note"),
                      finding(Code::step_counter, "at 10 and 30"),
                      finding(Code::config, "lr differs"),
                      finding(Code::config, "eps differs"),
                      finding(Code::diverged, "itself"),
                      finding(Code::config, "later")};
  for (Finding& one : verdict.findings) one.tensor.clear();
  verdict.findings[0].step = 20;
  verdict.findings[1].tensor = "v";
  verdict.findings[2].severity = Severity::note;
  verdict.findings[6].tensor = "w";
  const std::string text = first_section(verdict, {});
  CHECK(text.find("  before     step 20: no optimizer.pt (TT505)\n"
                  "  before     at 10 and 30 (TT401)\n"
                  "  before     lr differs (TT309), and 1 more\n  where") != std::string::npos);
}

TEST_CASE("A11 beside NaN the sizes are of the other elements; of zeros no cosine") {
  TensorResult made = result(Test::non_finite);
  made.shape = {};
  made.metrics.non_finite_disagree = made.metrics.taken_out = 500;
  made.metrics.unequal_values = 500;
  CHECK(size_words(made) == "the other 1,500 elements: equal");
  made.metrics.unequal_values = 600;
  CHECK(size_words(made) ==
        "the other 1,500 elements: max |b-a| 0, cosine 1, norm ratio 1.5, 100 of "
        "1,500 elements differ");
  made.metrics.taken_out = 2000;
  CHECK(size_words(made) == "no element is finite on both sides");
  TensorResult zero = result(Test::exact);
  zero.shape = {};
  zero.metrics.sum_b2 = 0;
  CHECK(size_words(zero) == "max |b-a| 0, 1,500 of 2,000 elements differ");
  CHECK(error_words(zero) ==
        "the candidate is all zeros, where 1500 of 2000 elements of the reference are not");
}

TEST_CASE("the file is that of the worst element, else of the finding") {
  Verdict verdict = about(result(Test::rel));
  const auto file = [&](int verbose) {
    const std::string text = first_section(verdict, {.verbose = verbose});
    const std::size_t at = text.find("  file ");
    const std::size_t end = std::min(text.find("  why "), text.size());
    return at == text.npos ? "" : text.substr(at, end - at);
  };
  CHECK(file(1).empty());
  verdict.findings = {finding(Code::bit_flip, "m")};
  CHECK(file(1).empty());
  verdict.findings[0].where = Where{"of\nfinding", {}, {}};
  CHECK(file(1) == "  file       of\\nfinding\n");
  Places places;
  places.reference = Where{"a", 4, {}};
  verdict.tensors[0].places = std::make_shared<const Places>(places);
  CHECK(file(2) == "  file       of\\nfinding\n  reference  a at byte 4\n");
  places.candidate = Where{"b", 0, {}};
  verdict.tensors[0].places = std::make_shared<const Places>(places);
  CHECK(file(2) == "  file       b at byte 0\n  reference  a at byte 4\n");
  CHECK(file(1) == "  file       b at byte 0\n");
}

TEST_CASE("other places where an error came about: five, and how many more") {
  Verdict verdict;
  verdict.first = Divergence{};
  verdict.first->tensor = "r0";
  const auto others = [&](std::size_t count) {
    verdict.roots.clear();
    for (std::size_t i = 0; i < count; ++i) {
      verdict.roots.emplace_back().identity.name = fmt::format("r{}", i);
    }
    const std::string text = first_section(verdict, {});
    const std::size_t at = text.find("  also in");
    return at == text.npos ? "" : text.substr(at);
  };
  CHECK(others(0).empty());
  CHECK(others(1).empty());  // it is the first itself
  CHECK(others(2) == "  also in    r1\n");
  CHECK(others(6) == "  also in    5 that their inputs do not explain: r1, r2, r3, r4, r5\n");
  CHECK(others(7) ==
        "  also in    6 that their inputs do not explain: r1, r2, r3, r4, r5 and 1 more\n");
}

}  // namespace
}  // namespace ttcheck::reports
