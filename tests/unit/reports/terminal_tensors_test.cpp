// SPDX-License-Identifier: Apache-2.0
// The tables of compared tensors, one for each outcome.

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "reports/terminal_parts.hpp"

namespace ttcheck::reports {
namespace {

/// Its limit is 0.5.
TensorResult result_of(std::string name, Outcome outcome, double ratio) {
  TensorResult result;
  result.identity.name = std::move(name);
  result.by_limit = outcome;
  result.ratio = ratio;
  result.error = ratio / 2;
  result.allowed = 0.5;
  result.test = Test::row;
  result.limit.rel = 0.25;  // of a test that did not decide
  return result;
}

Verdict verdict_of(std::vector<TensorResult> results, Outcome outcome = Outcome::noise) {
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.tensors = std::move(results);
  return verdict;
}

TEST_CASE("a table for each outcome: rows for names alike, or with --all for each") {
  Verdict verdict = verdict_of(
      {result_of("e", Outcome::equal, 0), result_of("l.0.w\n", Outcome::diverged, 4),
       result_of("n", Outcome::noise, 0.5), result_of("v\x1b", Outcome::not_comparable, 2),
       result_of("l.1.w\n", Outcome::diverged, 6)});
  verdict.tensors[0].cast = "wide\n";
  verdict.tensors[1].step = 8;
  verdict.tensors[1].wrong_ranks = {1};
  verdict.tensors[3].dtype = DType::bf16;
  verdict.tensors[4].step = 7;
  verdict.tensors[4].wrong_ranks = {0, 2};
  const std::string unmet =
      "\nNot comparable  tensors  dtype\n"
      "v\\x1b                 1  bf16/f32\n";
  const std::string within =
      "\nWithin the limit  tensors  dtype  error  limit  ratio\n"
      "n                       1  f32     0.25    0.5    0.5\n";
  CHECK(tensors_section(verdict, {}) ==
        "\nBeyond the limit  tensors  dtype  error  limit  ratio  ranks  steps\n"
        "l.{0,1}.w\\n             2  f32        3    0.5      6  0-2    7,8\n" +
            unmet + within);
  CHECK(tensors_section(verdict, {.all = true}) ==
        "\nBeyond the limit  tensors  dtype  error  limit  ratio  ranks  steps\n"
        "l.0.w\\n                 1  f32        2    0.5      4  1      8\n"
        "l.1.w\\n                 1  f32        3    0.5      6  0,2    7\n" +
            unmet + within +
            "\nEqual  tensors  dtype    cast\n"
            "e            1  f32    wide\\n\n");
  CHECK(tensors_section({}, {.all = true}).empty());
}

TEST_CASE("headings are bold in colour") {
  CHECK(tensors_section(verdict_of({result_of("n", Outcome::noise, 0.5)}), {.color = true}) ==
        "\n\x1b[1mWithin the limit  tensors  dtype  error  limit  ratio\x1b[0m\n"
        "n                       1  f32     0.25    0.5    0.5\n");
}

/// Names of the rows under that title, then what stands for the rows left out.
std::string listed_in(const std::string& text, const std::string& title) {
  std::size_t at = text.find("\n" + title);
  if (at == text.npos) return "";
  std::string names;
  for (at = text.find('\n', at + 1) + 1; at < text.size() && text[at] != '\n';) {
    const std::size_t end = text.find('\n', at);
    names += text[at] == '.' ? " " + text.substr(at, end - at) : text.substr(at, 1);
    at = end + 1;
  }
  return names;
}

TEST_CASE("at most `top` rows a table: what diverged as it came, noise the largest first") {
  struct Row {
    int top;
    bool all;
    std::string beyond, within;
  };
  const std::string one = " ... and 1 row like these (--top 0, --all)";
  const std::string two = " ... and 2 rows like these (--top 0, --all)";
  const std::string three = " ... and 3 rows like these (--top 0, --all)";
  const std::vector<Row> rows = {
      {0, false, "abc", "qsrp"},          {1, false, "a" + two, "q" + three},
      {2, false, "ab" + one, "qs" + two}, {3, false, "abc", "qsr" + one},
      {4, false, "abc", "qsrp"},          {5, false, "abc", "qsrp"},
      {1, true, "abc", "pqrs"},
  };
  for (const Row& row : rows) {
    INFO(row.top << " " << row.all);
    const Verdict verdict =
        verdict_of({result_of("a", Outcome::diverged, 2), result_of("b", Outcome::diverged, 4),
                    result_of("c", Outcome::diverged, 3), result_of("p", Outcome::noise, 0.25),
                    result_of("q", Outcome::noise, 0.75), result_of("r", Outcome::noise, 0.5),
                    result_of("s", Outcome::noise, 0.75)});
    const std::string text = tensors_section(verdict, {.top = row.top, .all = row.all});
    CHECK(listed_in(text, "Beyond the limit") == row.beyond);
    CHECK(listed_in(text, "Within the limit") == row.within);
  }
}

TEST_CASE("what cannot be compared and what is equal stay as they came") {
  const Verdict verdict = verdict_of(
      {result_of("a", Outcome::not_comparable, 1), result_of("b", Outcome::not_comparable, 2),
       result_of("c", Outcome::equal, 1), result_of("d", Outcome::equal, 2)});
  const std::string text = tensors_section(verdict, {.all = true});
  CHECK(listed_in(text, "Not comparable") == "ab");
  CHECK(listed_in(text, "Equal") == "cd");
  CHECK(listed_in(tensors_section(verdict, {.top = 1}), "Not comparable") ==
        "a ... and 1 row like these (--top 0, --all)");
}

TEST_CASE("beside a divergence three rows of noise are enough") {
  struct Row {
    Outcome outcome;
    int top;
    bool all;
    std::string within;
  };
  const std::string rest = " ... and 2 rows like these (--top 0, --all)";
  const std::vector<Row> rows = {
      {Outcome::diverged, 0, false, "edcba"},
      {Outcome::diverged, 2, false, "ed ... and 3 rows like these (--top 0, --all)"},
      {Outcome::diverged, 3, false, "edc" + rest},
      {Outcome::diverged, 4, false, "edc" + rest},
      {Outcome::diverged, 10, false, "edc" + rest},
      {Outcome::diverged, 10, true, "abcde"},
      {Outcome::noise, 4, false, "edcb ... and 1 row like these (--top 0, --all)"},
      {Outcome::noise, 10, false, "edcba"},
  };
  for (const Row& row : rows) {
    INFO(row.top << " " << row.all);
    std::vector<TensorResult> results;
    for (std::size_t i = 0; i < 5; ++i) {
      results.push_back(result_of(std::string(1, "abcde"[i]), Outcome::noise,
                                  0.125 * static_cast<double>(i + 1)));
    }
    const Verdict verdict = verdict_of(std::move(results), row.outcome);
    CHECK(listed_in(tensors_section(verdict, {.top = row.top, .all = row.all}),
                    "Within the limit") == row.within);
  }
}

}  // namespace
}  // namespace ttcheck::reports
