// SPDX-License-Identifier: Apache-2.0
#include "reports/terminal.hpp"

#include "reports/terminal_parts.hpp"

namespace ttcheck::reports {

std::string write_terminal(const Verdict& verdict, const ReportOptions& options) {
  if (options.verbose < 0) return last_line(verdict) + "\n";
  const bool closely = options.verbose > 0 || options.all;
  if (verdict.calibration && !closely) {
    return calibration_screen(verdict, options) + "\n" + last_line(verdict) + "\n";
  }
  if (verdict.shown && !closely) return shown_screen(verdict, options) + last_line(verdict) + "\n";
  if (verdict.outcome && !closely) {
    const std::string map = map_section(verdict, options);
    return screen_section(verdict, options) + map + (map.empty() ? "" : "\n") + last_line(verdict) +
           "\n";
  }
  std::string text;
  if (!verdict.outcome) {
    text += verdict.shown ? shown_section(verdict, options) : info_sections(verdict, options);
  } else if (verdict.shown) {
    text += head_section(verdict, options);
    text += first_section(verdict, options);
    text += shown_section(verdict, options);
  } else if (verdict.calibration) {
    text += calibration_section(verdict, options);
    text += first_section(verdict, options);
    text += coverage_section(verdict, options);
  } else {
    text += head_section(verdict, options);
    text += search_section(verdict, options);
    text += first_section(verdict, options);
    text += curve_section(verdict, options);
    text += facts_section(verdict, options);
    text += tensors_section(verdict, options);
    text += coverage_section(verdict, options);
    text += map_section(verdict, options);
  }
  text += findings_section(verdict, options);
  return text + "\n" + last_line(verdict) + "\n";
}

}  // namespace ttcheck::reports
