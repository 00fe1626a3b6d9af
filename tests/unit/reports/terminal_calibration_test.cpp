// SPDX-License-Identifier: Apache-2.0
// The screen of `calibrate`, up to what was compared.

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "reports/terminal_parts.hpp"

namespace ttcheck::reports {
namespace {

/// Two runs that were compared in w.0, w.1, ...: d and eps are 0.25.
Verdict calibrated(std::size_t tensors) {
  Verdict verdict;
  verdict.command = "calibrate";
  verdict.outcome = Outcome::noise;
  verdict.reference = RunSummary{"ref", "hf", {}, {}, 2, 8};
  Calibration& what = verdict.calibration.emplace();
  what.runs = {"a"};
  what.perturbations = {""};
  what.comparisons = 1;
  what.m = 5;
  what.m0 = 4;
  what.eps = 0.25;
  for (std::size_t i = 0; i < tensors; ++i) {
    what.tensors.push_back({{"w." + std::to_string(i)}, 0.25, 0.5, 2, 3});
  }
  return verdict;
}

const std::string kLines =
    "  reference  ref  hf, 2 tensors, 8 B\n"
    "  run        a\n"
    "  limit      of each tensor the larger of 5 x d and 4 x eps, eps 0.25\n"
    "  compared   1 pair of runs\n"
    "  written    nothing\n";

TEST_CASE("what a calibration came to") {
  struct Row {
    std::string what;
    Outcome outcome;
    std::size_t tensors;
    std::string heading;
  };
  const std::vector<Row> rows = {
      {"equal runs", Outcome::equal, 2, "CALIBRATED  2 tensors measured, the runs are equal"},
      {"one tensor of them", Outcome::equal, 1,
       "CALIBRATED  1 tensor measured, the runs are equal"},
      {"noise", Outcome::noise, 2, "CALIBRATED  2 tensors measured"},
      {"one tensor with noise", Outcome::noise, 1, "CALIBRATED  1 tensor measured"},
      {"more than noise", Outcome::diverged, 2,
       "NOT CALIBRATED  the runs differ by more than noise"},
      {"nothing to compare", Outcome::not_comparable, 0, "NOT CALIBRATED  other\\x1b[A weights"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Verdict verdict = calibrated(row.tensors);
    verdict.outcome = row.outcome;
    verdict.reason = "other\x1b[A weights";
    const std::string text = calibration_section(verdict, {});
    CHECK(text.substr(0, text.find("\n\n")) == row.heading);
  }
}

TEST_CASE("without tensors there is no table") {
  CHECK(calibration_section(calibrated(0), {}) == "CALIBRATED  0 tensors measured\n\n" + kLines);
}

TEST_CASE("runs, how each was perturbed, and what was written") {
  Verdict verdict = calibrated(0);
  Calibration& what = *verdict.calibration;
  verdict.reference->path = "r\n";
  what.runs = {"a\x1b", "b"};
  what.perturbations = {"", "seed\n1"};
  what.comparisons = 1200;
  what.m = 2.5;
  what.file = "limits\n.toml";
  CHECK(calibration_section(verdict, {}) ==
        "CALIBRATED  0 tensors measured\n\n"
        "  reference  r\\n  hf, 2 tensors, 8 B\n"
        "  run        a\\x1b\n"
        "  run        b  perturbed: seed\\n1\n"
        "  limit      of each tensor the larger of 2.5 x d and 4 x eps, eps 0.25\n"
        "  compared   1,200 pairs of runs\n"
        "  written    limits\\n.toml\n");
}

TEST_CASE("the largest errors stand first, those alike as they came") {
  Verdict verdict = calibrated(2);
  Calibration& what = *verdict.calibration;
  what.tensors.push_back({{"v\n", Phase::backward}, 1, 0.125, 0.75, 1234});
  const std::string table =
      "\nLargest error between the runs     d  in eps    row  outlier  samples\n"
      "backward v\\n                       1       4  0.125     0.75    1,234\n"
      "w.0                             0.25       1    0.5        2        3\n"
      "w.1                             0.25       1    0.5        2        3\n";
  CHECK(calibration_section(verdict, {}) == "CALIBRATED  3 tensors measured\n\n" + kLines + table);
  CHECK(calibration_section(verdict, {.color = true}) ==
        "\x1b[1;36mCALIBRATED  3 tensors measured\x1b[0m\n\n" + kLines + table);
}

TEST_CASE("at most `top` tensors are listed") {
  struct Row {
    int top;
    bool all;
    std::size_t listed;
    std::string rest;
  };
  const std::vector<Row> rows = {
      {0, false, 3, ""},
      {1, false, 1, "... and 2 more rows (--top 0, --all)\n"},
      {2, false, 2, "... and 1 more row (--top 0, --all)\n"},
      {3, false, 3, ""},
      {4, false, 3, ""},
      {1, true, 3, ""},
  };
  const std::vector<std::string> lines = {
      "w.0                             0.25       1  0.5        2        3\n",
      "w.1                             0.25       1  0.5        2        3\n",
      "w.2                             0.25       1  0.5        2        3\n",
  };
  for (const Row& row : rows) {
    INFO(row.top << " " << row.all);
    std::string table = "\nLargest error between the runs     d  in eps  row  outlier  samples\n";
    for (std::size_t i = 0; i < row.listed; ++i) table += lines[i];
    CHECK(calibration_section(calibrated(3), {.top = row.top, .all = row.all}) ==
          "CALIBRATED  3 tensors measured\n\n" + kLines + table + row.rest);
  }
}

}  // namespace
}  // namespace ttcheck::reports
