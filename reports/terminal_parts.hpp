// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sections of the screen, top to bottom. Each ends its last line, and is empty when it has
// nothing to say.

#include <string>
#include <vector>

#include "core/model/verdict.hpp"
#include "reports/columns.hpp"
#include "reports/report.hpp"

namespace ttcheck::reports {

/// The short screen, up to the last line.
std::string screen_section(const Verdict& verdict, const ReportOptions& options);

std::string head_section(const Verdict& verdict, const ReportOptions& options);
/// Its parts: the verdict with its sentence, and what was compared with what.
std::string headline_section(const std::string& headline, const std::string& sentence,
                             const Verdict& verdict, const ReportOptions& options);
std::string sides_section(const Verdict& verdict, const ReportOptions& options);
/// "step 40", an op's path, or "none".
std::string search_place(const std::optional<std::int64_t>& step, const std::string& op);
std::string search_section(const Verdict& verdict, const ReportOptions& options);
std::string first_section(const Verdict& verdict, const ReportOptions& options);
/// How error and limit go over the step of the first difference; of traces, with -v.
std::string curve_section(const Verdict& verdict, const ReportOptions& options);
std::string facts_section(const Verdict& verdict, const ReportOptions& options);
std::string tensors_section(const Verdict& verdict, const ReportOptions& options);
std::string coverage_section(const Verdict& verdict, const ReportOptions& options);
std::string map_section(const Verdict& verdict, const ReportOptions& options);
std::string findings_section(const Verdict& verdict, const ReportOptions& options);

/// A part of what `show` says; where room is short lighter ones are left out.
struct ShownPart {
  std::string text;  ///< whole lines
  int weight = 0;
};
std::vector<ShownPart> shown_parts(const Verdict& verdict, const ReportOptions& options);

/// The short screen of `show`, up to the last line.
std::string shown_screen(const Verdict& verdict, const ReportOptions& options);

/// What lies where inside the tensor, for `show`.
std::string shown_section(const Verdict& verdict, const ReportOptions& options);

/// The screen of `calibrate`, up to what was compared.
std::string calibration_section(const Verdict& verdict, const ReportOptions& options);
/// The short screen of `calibrate`, up to the last line.
std::string calibration_screen(const Verdict& verdict, const ReportOptions& options);

/// The whole screen of `info`, less the findings.
std::string info_sections(const Verdict& verdict, const ReportOptions& options);

/// A table of a screen: behind an empty line, its first row bold.
std::string table_section(const Columns& columns, const ReportOptions& options);

/// What one pair's error is, against which limit.
std::string error_words(const TensorResult& result);

/// How far apart its elements are.
std::string size_words(const TensorResult& result);

/// "hf, tp=4, 312 tensors, 2.1 GiB, steps 10-12".
std::string run_words(const RunSummary& run);

/// Pairs that are equal after a cast, and how many by which: "rounding 2, widening f64 8".
std::int64_t casts_of(const Tally& tally);
std::string cast_words(const Tally& tally);
/// What was on one side only or could not be read; empty when there was no such thing.
std::string absent_words(const Coverage& coverage);
/// "12 by kind moment1: not in reference".
std::string known_words(const Verdict& verdict);  ///< what is known to differ, and why; or empty
/// What was left out, by rule, less a rule that is told elsewhere.
std::string excluded_words(const Coverage& coverage, std::string_view told = "");

/// Findings that are errors, beside values that are equal or noise; 0 beside others.
std::int64_t errors_beside(const Verdict& verdict);
std::int64_t known_differences(const Verdict& verdict);  ///< that were set apart

}  // namespace ttcheck::reports
