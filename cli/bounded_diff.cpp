#include "cli/bounded_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "cli/diff.hpp"
#include "cli/leftovers.hpp"
#include "cli/steps.hpp"
#include "core/limits/limits_file.hpp"
#include "core/verdict/coverage.hpp"

namespace ttcheck::cli {
namespace {

limits::LimitOptions limits_of(const std::string& text, const std::string& command) {
  limits::LimitOptions limits;
  limits.mode = limits::LimitOptions::Mode::file;
  limits.file = std::make_shared<limits::LimitsFile>(limits::parse_limits(text, command));
  return limits;
}

}  // namespace

Bounds bounded(const Options& options, double most) {
  Bounds bounds{options, {}};
  bounds.options.all = true;
  const std::string any = fmt::format(
      "limits = 1\nm = 1\n[[tensor]]\nmatch = \"**\"\nd = {}\nrow = 1e300\n"
      "outlier = 1e300\n",
      most);
  bounds.options.limits = limits_of(any, options.command);
  bounds.first_step =
      limits_of(any + "[[tensor]]\nmatch = \"**\"\nphase = \"state\"\nd = 0\n", options.command);
  return bounds;
}

Verdict diff_within_bounds(const Run& a, const Run& b, const Bounds& bounds,
                           const align::AlignOptions& align, bool every_detail) {
  const Options& options = bounds.options;
  Verdict verdict = head_of(a, b, options);
  DiffContext context{a, b, options, align, {}, {}, {}, {}};
  context.every_detail = every_detail;
  context.first_limits = &bounds.first_step;
  diff_steps(pair_steps(a, b, options, verdict), context, verdict);
  conclude_runs(context, verdict);
  if (!verdict.reason.empty()) verdict.reason = fmt::format("{}: {}", b.path, verdict.reason);
  return verdict;
}

void join(Verdict& all, Verdict&& one) {
  if (!all.outcome || *one.outcome > *all.outcome) {
    all.outcome = one.outcome;
    all.reason = one.reason;
  }
  if (!all.first) all.first = one.first;
  if (!one.complete) all.complete = false;
  Coverage& to = all.coverage;
  to.only_reference += one.coverage.only_reference;
  to.only_candidate += one.coverage.only_candidate;
  to.unreadable += one.coverage.unreadable;
  to.bytes_compared += one.coverage.bytes_compared;
  for (const auto& [rule, count] : one.coverage.excluded_by) verdict::exclude(to, rule, count);
  for (Finding& finding : one.findings) {
    const bool said = std::ranges::any_of(all.findings, [&](const Finding& other) {
      return other.severity == Severity::note && other.code == finding.code &&
             other.message == finding.message;
    });
    if (!said) all.findings.push_back(std::move(finding));
  }
}

}  // namespace ttcheck::cli
