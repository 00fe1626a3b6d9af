// SPDX-License-Identifier: Apache-2.0
#pragma once
// A JSON object a line, for tools that read lines.

#include <string>

#include "core/model/verdict.hpp"
#include "reports/report.hpp"

namespace ttcheck::reports {

/// The objects of write_json, each with its `type` in front: a `summary` (all but the lists), then
/// each `finding`, `tensor` and `fact`.
std::string write_jsonl(const Verdict& verdict, const ReportOptions& options);

}  // namespace ttcheck::reports
