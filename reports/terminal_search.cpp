// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "reports/columns.hpp"
#include "reports/escape.hpp"
#include "reports/paint.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
std::string search_place(const std::optional<std::int64_t>& step, const std::string& op) {
  if (step) return fmt::format("step {}", *step);
  return op.empty() ? "none" : terminal_text(op);
}

std::string search_section(const Verdict& verdict, const ReportOptions& options) {
  if (!verdict.search) return "";
  const Search& search = *verdict.search;
  const Paint paint(options.color);
  std::string text = "\n" + paint.bold("Search over " + search.axis) + "\n";
  text += labelled("first bad", search_place(search.first_bad_step, search.first_bad_op),
                   options.width);
  text += labelled("last good", search_place(search.last_good_step, search.last_good_op),
                   options.width);
  text += labelled("examined",
                   fmt::format("{} of {}; {} read, where all of it is {}",
                               thousands(search.examined), thousands(search.total),
                               short_bytes(search.bytes_read), short_bytes(search.bytes_total)),
                   options.width);
  if (options.verbose < 2) return text;
  for (const std::string& line : search.log) {
    text += labelled("", terminal_text(line), options.width);
  }
  return text;
}

}  // namespace ttcheck::reports
