// SPDX-License-Identifier: Apache-2.0
#include "reports/prometheus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "reports/escape.hpp"
#include "reports/markup.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

/// Gauges of one comparison.
class Gauges {
 public:
  explicit Gauges(const Verdict& verdict) {
    labels_ = fmt::format("command=\"{}\"", label_text(verdict.command));
    const auto add = [&](std::string_view side, const std::optional<RunSummary>& run) {
      if (!run) return;
      labels_ += fmt::format(",{}=\"{}\"", side, label_text(terminal_text(run->path)));
    };
    add("reference", verdict.reference);
    add("candidate", verdict.candidate);
  }

  void begin(std::string_view name, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# HELP ttcheck_{} {}\n# TYPE ttcheck_{} gauge\n", name, help, name);
  }

  void add(double value, std::string_view label = "", std::string_view of = "") {
    text_ += fmt::format("ttcheck_{}{{{}", name_, labels_);
    if (!label.empty()) text_ += fmt::format(",{}=\"{}\"", label, of);
    text_ += std::isinf(value) ? "} +Inf\n" : fmt::format("}} {}\n", value);
  }

  std::string finish() { return std::move(text_); }

 private:
  std::string labels_, name_, text_;
};

void add_outcomes(const Verdict& verdict, Gauges& gauges) {
  gauges.begin("verdict", "1 for the verdict, 0 for the others");
  for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
    const bool it_is = verdict.outcome == static_cast<Outcome>(i);
    gauges.add(it_is ? 1 : 0, "verdict", kOutcomes[i]);
  }
  gauges.begin("tensors", "compared tensors by verdict");
  for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
    gauges.add(static_cast<double>(verdict.tally.outcomes[i]), "verdict", kOutcomes[i]);
  }
  gauges.begin("largest_ratio", "the largest error over its limit");
  double largest = 0;
  for (const TensorResult& one : verdict.tensors) largest = std::max(largest, one.ratio);
  gauges.add(largest);
}

}  // namespace

std::string write_prometheus(const Verdict& verdict, const ReportOptions&) {
  Gauges gauges(verdict);
  gauges.begin("exit_code", "the exit code: 1 a difference, 2 trouble, 3 both");
  gauges.add(verdict.exit);
  gauges.begin("complete", "1 where all that was asked was checked");
  gauges.add(verdict.complete ? 1 : 0);
  gauges.begin("findings", "findings by severity");
  for (const Severity severity : {Severity::error, Severity::warning, Severity::note}) {
    const auto count = std::ranges::count(verdict.findings, severity, &Finding::severity);
    gauges.add(static_cast<double>(count), "severity", severity_word(severity));
  }
  if (verdict.outcome) add_outcomes(verdict, gauges);
  gauges.begin("compared_bytes", "bytes of tensors that were compared");
  gauges.add(static_cast<double>(verdict.coverage.bytes_compared));
  gauges.begin("read_bytes", "bytes of the files that were read");
  gauges.add(static_cast<double>(verdict.coverage.bytes_read));
  return gauges.finish();
}

}  // namespace ttcheck::reports
