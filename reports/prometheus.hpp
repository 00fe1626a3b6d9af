// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gauges for node_exporter's textfile collector.

#include <string>

#include "core/model/verdict.hpp"
#include "reports/report.hpp"

namespace ttcheck::reports {

/// What came out as gauges labelled with both paths; no timestamps.
std::string write_prometheus(const Verdict& verdict, const ReportOptions& options);

}  // namespace ttcheck::reports
