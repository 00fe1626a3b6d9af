// SPDX-License-Identifier: Apache-2.0
#pragma once
// A row a tensor, for a spreadsheet.

#include <string>

#include "core/model/verdict.hpp"
#include "reports/report.hpp"

namespace ttcheck::reports {

/// The tensors that JSON lists, in its order: those that are not equal, with --all every one.
std::string write_csv(const Verdict& verdict, const ReportOptions& options);

}  // namespace ttcheck::reports
