// SPDX-License-Identifier: Apache-2.0
#pragma once
// One page that is passed on as a file: no network, no input but the verdict, readable without its
// script, in print, by keyboard and by a screen reader.

#include <string>

#include "core/model/verdict.hpp"
#include "reports/report.hpp"

namespace ttcheck::reports {

/// The story, pictures with a text beside each, the tables, findings with what they mean, and the
/// command that gives all of it again. Names become text, never markup, links or script (NM06,
/// NM07); a Content-Security-Policy admits the page's own style and script by their hashes alone.
std::string write_html(const Verdict& verdict, const ReportOptions& options);

}  // namespace ttcheck::reports
