// SPDX-License-Identifier: Apache-2.0
#include "reports/csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <string_view>
#include <vector>

#include "reports/escape.hpp"
#include "reports/fold.hpp"
#include "reports/listed.hpp"
#include "reports/markup.hpp"

namespace ttcheck::reports {
namespace {

constexpr std::string_view kNames[] = {
    "step",   "phase",    "microbatch", "tensor",  "candidate_tensor",
    "kind",   "dtype",    "shape",      "verdict", "error",
    "limit",  "ratio",    "rel",        "max_abs", "max_index",
    "differ", "elements", "wrong_ranks"};

template <class Number>
std::string joined(std::span<const Number> numbers) {
  return fmt::format("{}", fmt::join(numbers, " "));
}

std::string exact(double value) { return fmt::format("{}", value); }

std::vector<std::string> cells_of(const TensorResult& one) {
  const bool trace = one.identity.phase != Phase::none;
  const Metrics& metrics = one.metrics;
  const std::int64_t worst = worst_index(metrics);
  return {one.step ? fmt::format("{}", *one.step) : "",
          std::string(name(one.identity.phase)),
          trace ? fmt::format("{}", one.identity.microbatch) : "",
          terminal_text(one.identity.name),
          terminal_text(one.candidate_name),
          std::string(name(one.kind)),
          dtypes_of(one),
          joined(std::span(one.shape)),
          std::string(name(one.outcome())),
          exact(one.error),
          exact(one.limit_shown()),
          exact(one.ratio),
          exact(metrics.rel()),
          exact(metrics.max_abs),
          worst < 0 ? "" : joined<std::int64_t>(unravel(one.shape, worst)),
          fmt::format("{}", metrics.unequal_values),
          fmt::format("{}", metrics.count),
          joined(std::span(one.wrong_ranks))};
}

}  // namespace

std::string write_csv(const Verdict& verdict, const ReportOptions& options) {
  std::string text = fmt::format("{}\r\n", fmt::join(kNames, ","));
  for (const TensorResult& one : listed(verdict, options)) {
    std::vector<std::string> cells = cells_of(one);
    for (std::string& cell : cells) cell = csv_cell(cell);
    text += fmt::format("{}\r\n", fmt::join(cells, ","));
  }
  return text;
}

}  // namespace ttcheck::reports
