// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sections of the page, top to bottom. Each is whole HTML, and empty when it has nothing to
// say.

#include <string>
#include <string_view>

#include "core/model/verdict.hpp"
#include "reports/report.hpp"

namespace ttcheck::reports {

/// Verdict, sentence, what was compared with what, and the lines of the story.
std::string html_card(const Verdict& verdict);
/// Error over limit of each record, in the order of the step of the first difference.
std::string html_curve(const Verdict& verdict);
/// Layers against what they hold, and against steps where there are several.
std::string html_layers(const Verdict& verdict);
/// The ranks of the candidate, and on how many tensors each is wrong.
std::string html_mesh(const Verdict& verdict);
/// The tensor of the first difference by rows and columns.
std::string html_tensor(const Verdict& verdict);
std::string html_results(const Verdict& verdict, const ReportOptions& options);
std::string html_facts(const Verdict& verdict);
std::string html_coverage(const Verdict& verdict, const ReportOptions& options);
std::string html_findings(const Verdict& verdict);

/// The page's own style and script, and their hashes as a Content-Security-Policy has them
/// (tests/reports/run holds them to the text).
std::string_view page_style();
std::string_view page_script();
inline constexpr std::string_view kStyleHash = "oc2zbXhZvnqGTPf7h71topeGCqLClziM+wOK4CYsDF4=";
inline constexpr std::string_view kScriptHash = "VrrPSY3O3DilDMbrkrDF4dxaV4VdQrKbbMrwEa2yanA=";

}  // namespace ttcheck::reports
