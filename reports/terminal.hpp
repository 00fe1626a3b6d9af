// SPDX-License-Identifier: Apache-2.0
#pragma once
// The screen. A person must understand it at once; the last line is for grep.

#include <string>

#include "core/model/verdict.hpp"
#include "reports/report.hpp"

namespace ttcheck::reports {

std::string write_terminal(const Verdict& verdict, const ReportOptions& options);

/// `ttcheck: DIVERGED first=<op or tensor> step=<n> ratio=<x> ranks=<r>`, without the line's end.
std::string last_line(const Verdict& verdict);

}  // namespace ttcheck::reports
