// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/columns.hpp"
#include "reports/escape.hpp"
#include "reports/paint.hpp"
#include "reports/story.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

std::string heading(const Verdict& verdict) {
  const Calibration& what = *verdict.calibration;
  switch (*verdict.outcome) {
    case Outcome::equal:
      return fmt::format("CALIBRATED  {} measured, the runs are equal",
                         counted(std::ssize(what.tensors), "tensor"));
    case Outcome::noise:
      return fmt::format("CALIBRATED  {} measured", counted(std::ssize(what.tensors), "tensor"));
    case Outcome::diverged:
      return "NOT CALIBRATED  the runs differ by more than noise";
    case Outcome::not_comparable:
      return "NOT CALIBRATED  " + message_text(verdict.reason);
  }
  return "";
}

std::string largest(const Calibration& what, const ReportOptions& options) {
  std::vector<const CalibratedTensor*> rows;
  for (const CalibratedTensor& one : what.tensors) rows.push_back(&one);
  std::ranges::stable_sort(rows, std::ranges::greater{}, &CalibratedTensor::d);
  const std::size_t most = options.top == 0 || options.all
                               ? rows.size()
                               : std::min(rows.size(), static_cast<std::size_t>(options.top));
  Columns columns("lrrrrr");
  columns.add({"Largest error between the runs", "d", "in eps", "row", "outlier", "samples"});
  for (std::size_t i = 0; i < most; ++i) {
    const CalibratedTensor& one = *rows[i];
    columns.add({shown(one.identity), short_number(one.d), short_number(one.d / what.eps),
                 short_number(one.row), short_number(one.outlier), thousands(one.samples)});
  }
  std::string text = "\n" + columns.text(0);
  if (most < rows.size()) {
    text += fmt::format("... and {} (--top 0, --all)\n",
                        counted(std::ssize(rows) - static_cast<std::int64_t>(most), "more row"));
  }
  return text;
}

}  // namespace

std::string calibration_section(const Verdict& verdict, const ReportOptions& options) {
  const Calibration& what = *verdict.calibration;
  const Paint paint(options.color);
  std::string text = paint.of(*verdict.outcome, heading(verdict)) + "\n\n";
  text += labelled(
      "reference",
      fmt::format("{}  {}", terminal_text(verdict.reference->path), run_words(*verdict.reference)),
      options.width);
  for (std::size_t i = 0; i < what.runs.size(); ++i) {
    std::string run = terminal_text(what.runs[i]);
    if (!what.perturbations[i].empty()) {
      run += fmt::format("  perturbed: {}", terminal_text(what.perturbations[i]));
    }
    text += labelled("run", run, options.width);
  }
  text += labelled("limit",
                   fmt::format("of each tensor the larger of {:g} x d and {:g} x eps, eps {}",
                               what.m, what.m0, short_number(what.eps)),
                   options.width);
  text += labelled("compared", counted(what.comparisons, "pair") + " of runs", options.width);
  text +=
      labelled("written", what.file.empty() ? "nothing" : terminal_text(what.file), options.width);
  if (!what.tensors.empty()) text += largest(what, options);
  return text;
}

std::string calibration_screen(const Verdict& verdict, const ReportOptions& options) {
  constexpr int kWarning = 4;  // the weight from which a line is no note
  std::string text = calibration_section(verdict, options) + first_section(verdict, options);
  std::string others;
  for (const StoryLine& line : story_findings(verdict)) {
    if (line.weight >= kWarning) others += labelled(line.label, line.text, options.width);
  }
  return others.empty() ? text : text + "\n" + others;
}

}  // namespace ttcheck::reports
