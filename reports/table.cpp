// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "reports/json.hpp"
#include "reports/report.hpp"
#include "reports/terminal.hpp"

namespace ttcheck::reports {
namespace {

constexpr Report kReports[] = {
    {"terminal", "the screen: verdict, first divergence, table, findings", write_terminal},
    {"json", "one object with everything (schema 1)", write_json},
};

}  // namespace

std::span<const Report> reports() { return kReports; }

const Report* report_named(std::string_view name) {
  const auto* row = std::ranges::find(kReports, name, &Report::name);
  return row == std::end(kReports) ? nullptr : row;
}

}  // namespace ttcheck::reports
