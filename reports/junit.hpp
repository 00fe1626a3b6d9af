// SPDX-License-Identifier: Apache-2.0
#pragma once
// A test suite a comparison, for CI servers (the dialect of Jenkins' xUnit).

#include <string>

#include "core/model/verdict.hpp"
#include "reports/report.hpp"

namespace ttcheck::reports {

/// One case for the whole, then one for each group of tensors that are alike but for numbers in
/// their names, and one for each code of findings that are about no compared tensor. What diverged
/// is a failure; what could not be compared or read is an error.
std::string write_junit(const Verdict& verdict, const ReportOptions& options);

}  // namespace ttcheck::reports
