// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/escape.hpp"
#include "reports/fold.hpp"
#include "reports/html_parts.hpp"
#include "reports/listed.hpp"
#include "reports/markup.hpp"
#include "reports/off_by.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

constexpr std::size_t kMostResults = 2000;

std::string row_of(const Group& group) {
  const TensorResult& worst = *group.worst;
  return fmt::format(
      "<tr class=\"{}\"><td>{}</td><td class=\"n\">{}</td><td>{}</td><td>{}</td><td class=\"n\" "
      "data-v=\"{}\">{}</td><td class=\"n\">{}</td><td class=\"n\" "
      "data-v=\"{}\">{}</td><td>{}</td><td>{}</td></tr>\n",
      name(worst.outcome()), html_text(name_of(group)), group.results.size(), dtypes_of(worst),
      name(worst.outcome()), worst.error, off_cell(worst), explained_cell(worst), worst.ratio,
      short_number(worst.ratio), folded(wrong_ranks_of(group)), folded(steps_of(group)));
}

std::string value_of(const std::optional<FactValue>& value) {
  constexpr std::size_t kLongestFact = 120;
  return value ? html_text(terminal_text(to_string(*value), kLongestFact)) : "-";
}

}  // namespace

std::string html_results(const Verdict& verdict, const ReportOptions& options) {
  std::vector<const TensorResult*> results;
  for (const TensorResult& one : listed(verdict, options)) results.push_back(&one);
  std::vector<Group> groups = fold(results);
  if (groups.empty()) return "";
  std::string text =
      "<section aria-labelledby=\"results\">\n<h2 id=\"results\">Tensors</h2>\n<p class=\"tools\" "
      "hidden><label>Only names with <input type=\"search\" id=\"filter\"></label> <span "
      "id=\"count\" "
      "role=\"status\"></span></p>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
      "aria-label=\"Tensors\"><table id=\"rows\">\n<thead><tr>";
  for (const char* const heading : {"tensor", "how many", "dtype", "verdict", "off by", "explained",
                                    "of its limit", "ranks", "steps"}) {
    text += fmt::format("<th scope=\"col\">{}</th>", heading);
  }
  text += "</tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < std::min(groups.size(), kMostResults); ++i) text += row_of(groups[i]);
  text += "</tbody>\n</table></div>\n";
  if (groups.size() > kMostResults) {
    text += fmt::format("<p>and {} more rows (--out csv=FILE has them all)</p>\n",
                        thousands(std::ssize(groups) - static_cast<std::int64_t>(kMostResults)));
  }
  return text + "</section>\n";
}

std::string html_facts(const Verdict& verdict) {
  std::string rows;
  for (const FactResult& fact : verdict.facts) {
    if (fact.verdict != "differs") continue;
    rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        html_text(terminal_text(fact.name)), value_of(fact.reference),
                        value_of(fact.candidate), fact.step ? fmt::format("{}", *fact.step) : "");
  }
  if (rows.empty()) return "";
  return "<section aria-labelledby=\"facts\">\n<h2 id=\"facts\">Settings and counters that "
         "differ</h2>\n<table>\n<thead><tr><th scope=\"col\">name</th><th "
         "scope=\"col\">reference</th><th scope=\"col\">candidate</th><th scope=\"col\">from "
         "step</th></tr></thead>\n<tbody>\n" +
         rows + "</tbody>\n</table>\n</section>\n";
}

std::string html_coverage(const Verdict& verdict, const ReportOptions& options) {
  std::string text = coverage_section(verdict, options);
  const std::size_t heading = text.find('\n', 1);  // the section has a heading of its own
  text.erase(0, heading + 1);
  return fmt::format(
      "<section aria-labelledby=\"coverage\">\n<h2 id=\"coverage\">What was compared</h2>\n"
      "<pre>{}</pre>\n</section>\n",
      html_text(text));
}

}  // namespace ttcheck::reports
