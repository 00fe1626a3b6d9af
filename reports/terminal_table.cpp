// SPDX-License-Identifier: Apache-2.0
#include "reports/columns.hpp"
#include "reports/paint.hpp"
#include "reports/terminal_parts.hpp"

namespace ttcheck::reports {

std::string table_section(const Columns& columns, const ReportOptions& options) {
  const std::string text = columns.text(0);
  const std::size_t heading = text.find('\n');
  return "\n" + Paint(options.color).bold(text.substr(0, heading)) + text.substr(heading);
}

}  // namespace ttcheck::reports
