// SPDX-License-Identifier: Apache-2.0
#include "core/repeats/bounded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/diff/diff.hpp"
#include "core/diff/head.hpp"
#include "core/diff/steps.hpp"
#include "core/limits/limits_file.hpp"
#include "core/model/identity.hpp"
#include "core/verdict/coverage.hpp"

namespace ttcheck::repeats {
namespace {

/// Biases of states, which chance may move as far as two ways of one length are apart, and their
/// moments, which are of any size where they are round-off; records of traces state a phase, and
/// are held to `any` again.
std::string biases_of(const std::string& any) {
  std::string text;
  for (const auto& [match, most] : {std::pair("**bias", "2"), std::pair("**bias@*", "1e300")}) {
    text += fmt::format("[[tensor]]\nmatch = \"{}\"\nd = {}\nrow = 1e300\noutlier = 1e300\n", match,
                        most);
  }
  for (const std::string_view phase : kPhases) {
    if (!phase.empty()) text += fmt::format("{}phase = \"{}\"\n", any, phase);
  }
  return text;
}

limits::LimitOptions limits_of(const std::string& text, const std::string& command) {
  limits::LimitOptions limits;
  limits.mode = limits::LimitOptions::Mode::file;
  limits.file = std::make_shared<limits::LimitsFile>(limits::parse_limits(text, command));
  return limits;
}

}  // namespace

diff::DiffOptions bounded(const diff::DiffOptions& how, double most, const std::string& command,
                          bool states) {
  diff::DiffOptions bounds = how;
  bounds.keep_equal = true;
  bounds.recompute = false;
  bounds.ends = false;
  const std::string tensor =
      fmt::format("[[tensor]]\nmatch = \"**\"\nd = {}\nrow = 1e300\noutlier = 1e300\n", most);
  const std::string any = fmt::format("limits = 1\nm = 1\n{}{}{}",
                                      states ? "[states]\nweights = 1e300\nmoments = 1e300\n" : "",
                                      tensor, states ? biases_of(tensor) : "");
  bounds.limits = limits_of(any, command);
  bounds.first_limits =
      limits_of(any + "[[tensor]]\nmatch = \"**\"\nphase = \"state\"\nd = 0\n", command);
  return bounds;
}

Verdict diff_within_bounds(const Run& a, const Run& b, const diff::DiffOptions& bounds) {
  Verdict verdict = diff::head_of(a, b);
  diff::DiffContext context{a, b, bounds};
  diff::diff_steps(diff::pair_steps(a, b, bounds.steps, verdict), context, verdict);
  diff::conclude_runs(context, verdict);
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

}  // namespace ttcheck::repeats
