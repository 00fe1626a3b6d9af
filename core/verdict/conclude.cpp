// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/conclude.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/name_rules.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::verdict {
namespace {

/// Findings that say by themselves that the two runs are not the same state.
bool parts_the_runs(const Finding& finding) {
  if (finding.severity != Severity::error) return false;
  switch (finding.code) {
    case Code::missing:
    case Code::unexpected:
    case Code::shape_or_dtype:
    case Code::permutation:
    case Code::replica_mismatch:
    case Code::tie_mismatch:
      return true;
    default:
      return false;
  }
}

/// Whether a pair's bytes were not kept and its statistics are the same.
bool agrees_in_statistics(const TensorResult& one) {
  return one.outcome() == Outcome::noise && one.rule == kByStatistics && one.ratio == 0;
}

/// "1 tensor is", "3 tensors are".
std::string are(std::int64_t count) {
  return count == 1 ? "1 tensor is" : fmt::format("{} tensors are", count);
}

/// TT606, once: of what nothing but statistics was kept, these agree.
void note_statistics(Verdict& verdict) {
  const auto agree = std::ranges::count_if(verdict.tensors, agrees_in_statistics);
  if (agree == 0) return;
  verdict.findings.push_back(
      note(Code::unmeasured_noise, {},
           fmt::format("{} in the statistics that were stored of {}; other values, or these in "
                       "another order, may have the same",
                       agree == 1 ? "1 tensor agrees" : fmt::format("{} tensors agree", agree),
                       agree == 1 ? "it" : "them")));
}

/// TT606, once: noise was judged by the built-in model.
void note_unmeasured(Verdict& verdict) {
  const auto modelled = std::ranges::count_if(verdict.tensors, [](const TensorResult& one) {
    const bool by_model = one.limit.kind == LimitKind::model || one.limit.kind == LimitKind::state;
    return one.outcome() == Outcome::noise && by_model && !agrees_in_statistics(one);
  });
  if (modelled == 0) return;
  const bool file = std::ranges::any_of(verdict.tensors, [](const TensorResult& one) {
    return one.limit.kind == LimitKind::measured;
  });
  verdict.findings.push_back(note(
      Code::unmeasured_noise, {},
      fmt::format(
          "{} noise by the built-in limit model; {}", are(modelled),
          file ? fmt::format("the limits file has no entry for {}", modelled == 1 ? "it" : "them")
               : "a repeated run would settle it")));
}

constexpr std::string_view kUndecided = "undecided";

/// What is known, and what would decide.
Finding undecided(const Verdict& verdict) {
  const auto open = verdict.tally.of(Outcome::not_comparable);
  const bool based = verdict.relation && !verdict.relation->base.empty();
  const bool measured = verdict.relation && verdict.relation->measured;
  Finding finding =
      note(Code::unmeasured_noise, {},
           fmt::format(
               "{}{} more than rounding apart, and less than training shows by "
               "itself; what would settle it: {}{}repeated runs (calibrate), the optimizer's state",
               verdict.relation ? verdict.relation->evidence + "; " : "", are(open),
               based ? "" : "a state both came from (--base), ", measured ? "more " : ""));
  finding.severity = Severity::warning;  // it only names the reason; exit code 2
  return finding;
}

}  // namespace

bool is_complete(const Verdict& verdict) {
  return verdict.coverage.unreadable == 0 &&
         std::ranges::none_of(verdict.findings, &Finding::incomplete);
}

void conclude(Verdict& verdict, const std::string& precondition) {
  verdict.complete = is_complete(verdict);
  const auto any = [&](Outcome outcome) {
    return std::ranges::any_of(verdict.tensors,
                               [&](const TensorResult& one) { return one.outcome() == outcome; });
  };
  if (!precondition.empty()) {
    verdict.outcome = Outcome::not_comparable;
    verdict.reason = precondition;
  } else if (any(Outcome::diverged)) {
    verdict.outcome = Outcome::diverged;
  } else if (any(Outcome::not_comparable) && verdict.complete &&
             std::ranges::none_of(verdict.findings, parts_the_runs)) {
    verdict.outcome = Outcome::not_comparable;
    verdict.reason = kUndecided;
    verdict.findings.push_back(undecided(verdict));
  } else if (verdict.coverage.paired == 0) {
    verdict.outcome = Outcome::not_comparable;
    verdict.reason = "nothing was compared";
  } else if (std::ranges::any_of(verdict.findings, parts_the_runs)) {
    verdict.outcome = Outcome::diverged;
  } else if (!verdict.complete) {
    verdict.outcome = Outcome::not_comparable;
    verdict.reason = "incomplete";
  } else {
    verdict.outcome = any(Outcome::noise) ? Outcome::noise : Outcome::equal;
    note_unmeasured(verdict);
    note_statistics(verdict);
  }
}

}  // namespace ttcheck::verdict
