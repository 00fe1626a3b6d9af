// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "reports/columns.hpp"
#include "reports/escape.hpp"
#include "reports/terminal_parts.hpp"

namespace ttcheck::reports {
namespace {

std::string value_words(const std::optional<FactValue>& value) {
  constexpr std::size_t kLongestValue = 60;
  return value ? terminal_text(to_string(*value), kLongestValue) : "-";
}

}  // namespace

std::string facts_section(const Verdict& verdict, const ReportOptions& options) {
  Columns columns("lll");
  columns.add({"Facts that differ", "reference", "candidate"});
  for (const FactResult& fact : verdict.facts) {
    const bool shown = fact.verdict == "differs" || (options.all && fact.verdict != "equal");
    if (shown) {
      std::string name = terminal_text(fact.name);
      if (fact.step) name += fmt::format(", step {}", *fact.step);
      columns.add({name, value_words(fact.reference), value_words(fact.candidate)});
    }
  }
  if (columns.rows() == 1) return "";
  return table_section(columns, options);
}

}  // namespace ttcheck::reports
