// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "reports/csv.hpp"
#include "reports/html.hpp"
#include "reports/json.hpp"
#include "reports/jsonl.hpp"
#include "reports/junit.hpp"
#include "reports/markdown.hpp"
#include "reports/prometheus.hpp"
#include "reports/report.hpp"
#include "reports/terminal.hpp"

namespace ttcheck::reports {
namespace {

constexpr Report kReports[] = {
    {"terminal", "the screen: verdict, first divergence, table, findings", write_terminal},
    {"json", "one object with everything (schema 1)", write_json},
    {"jsonl", "the same, an object a line", write_jsonl},
    {"junit", "test cases for a CI server", write_junit},
    {"markdown", "a page for the summary of a job", write_markdown},
    {"html", "a page with pictures, in one file", write_html, true},
    {"csv", "a row a tensor", write_csv},
    {"prometheus", "gauges for a textfile collector", write_prometheus},
};

}  // namespace

std::span<const Report> reports() { return kReports; }

const Report* report_named(std::string_view name) {
  const auto* row = std::ranges::find(kReports, name, &Report::name);
  return row == std::end(kReports) ? nullptr : row;
}

}  // namespace ttcheck::reports
