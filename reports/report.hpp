// SPDX-License-Identifier: Apache-2.0
#pragma once
// The door of reports: a Verdict becomes text. No report computes, and none prints: cli does.

#include <span>
#include <string>
#include <string_view>

#include "core/model/verdict.hpp"

namespace ttcheck::reports {

struct ReportOptions {
  bool color = false;
  int verbose = 0;   ///< -1 quiet, 0, 1 (-v), 2
  int rows = 3;      ///< of the short screen; 0: all
  int top = 10;      ///< findings and tensors listed; 0: all
  bool all = false;  ///< every tensor
  bool show_map = false;
  int width = 100;       ///< columns of the terminal
  bool unicode = false;  ///< it shows UTF-8
};

/// A row of the table of reports.
struct Report {
  std::string_view name;  ///< word of --out NAME=PATH
  std::string_view summary;
  /// REQUIRES no colour and no UTF-8 of all but the terminal, and no -q of them.
  std::string (*write)(const Verdict& verdict, const ReportOptions& options);
  bool draws = false;  ///< what lies where inside the first tensor that is wrong
};

std::span<const Report> reports();
const Report* report_named(std::string_view name);

}  // namespace ttcheck::reports
