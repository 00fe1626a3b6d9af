// SPDX-License-Identifier: Apache-2.0
#pragma once
// A page of Markdown for the summary of a job or a comment.

#include <cstddef>
#include <string>

#include "core/model/verdict.hpp"
#include "reports/report.hpp"

namespace ttcheck::reports {

/// Hosts drop a summary of more than 1 MiB whole; what does not fit is left out, the worst last.
inline constexpr std::size_t kMostMarkdown = 900 << 10;

/// The story, its rows, and the findings folded away.
std::string write_markdown(const Verdict& verdict, const ReportOptions& options);

}  // namespace ttcheck::reports
