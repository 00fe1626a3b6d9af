// SPDX-License-Identifier: Apache-2.0
#pragma once
// Schema 1 (man/ttcheck-report.schema.json): one object, keys in a fixed order, non-finite numbers
// as the strings "nan" "inf" "-inf". Each key, and each element of a list of objects, is on a line
// of its own, so that reports can be compared line by line.

#include <string>

#include "core/model/verdict.hpp"
#include "reports/report.hpp"

namespace ttcheck::reports {

std::string write_json(const Verdict& verdict, const ReportOptions& options);

}  // namespace ttcheck::reports
