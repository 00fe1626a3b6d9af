// SPDX-License-Identifier: Apache-2.0
#include "core/diff/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/base/interrupted.hpp"
#include "core/diff/after_steps.hpp"
#include "core/diff/copied_step.hpp"
#include "core/diff/first_unmet.hpp"
#include "core/diff/head.hpp"
#include "core/diff/named_states.hpp"
#include "core/diff/set_known_apart.hpp"
#include "core/diff/step.hpp"
#include "core/diff/steps.hpp"
#include "core/verdict/conclude.hpp"
#include "core/verdict/findings.hpp"
#include "core/verdict/tally.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::diff {

void diff_steps(std::span<const StepPair> pairs, DiffContext& context, Verdict& verdict) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (interrupted() != 0) {
      verdict.findings.push_back(verdict::interruption(
          fmt::format("{} of {} steps were not compared", pairs.size() - i, pairs.size())));
      context.told.cut_short = true;
      break;
    }
    diff_step(pairs[i], context.how.ends && i + 1 == pairs.size(), context, verdict);
  }
}

namespace {

/// A limits file of other names would leave everything to the model: that must not pass unseen.
void check_limits_met(const limits::LimitsFile& file, Verdict& verdict) {
  const std::string words = file.file + ": ";
  const bool met = std::ranges::any_of(
      verdict.tally.limits, [&](const auto& one) { return one.first.starts_with(words); });
  if (met || verdict.coverage.paired == 0) return;
  verdict.findings.push_back(
      verdict::note(Code::unmeasured_noise, {},
                    fmt::format("none of the {} entries of {} fits a tensor that was compared",
                                file.entries.size(), file.file)));
  verdict.findings.back().severity = Severity::warning;
}

}  // namespace

void conclude_runs(DiffContext& context, Verdict& verdict) {
  context.begin("conclude");
  verdict::count_kept(verdict.tensors, verdict.tally);
  verdict.coverage.bytes_read += context.reference.bytes_read() + context.candidate.bytes_read();
  if (context.how.limits.file) check_limits_met(*context.how.limits.file, verdict);
  verdict::conclude(verdict, context.told.precondition);
  if (verdict.outcome == Outcome::diverged && !verdict.first) verdict.first = first_unmet(verdict);
  const bool open = verdict.outcome == Outcome::not_comparable && context.told.precondition.empty();
  if (open && context.told.cut_short) verdict.reason = "interrupted";
}

namespace {

void diff_named(DiffContext& context, Verdict& verdict);

/// Two states of one name, and what lies beside these. Throws Error when one cannot be opened.
Verdict compare_named(const NamedState& reference, const NamedState& candidate,
                      DiffContext& context) {
  const Run a = reference.open();
  const Run b = candidate.open();
  Verdict part = head_of(a, b);
  append(part.findings, a.findings);
  append(part.findings, b.findings);
  DiffContext inner{a, b, context.how};
  inner.how.ends = false;
  try {
    diff_steps(pair_steps(a, b, context.how.steps, part), inner, part);
  } catch (const Error& error) {
    verdict::report_unread_step(error, {}, part);
  }
  inner.told.named.push_back({{}, {a.named, b.named}, Severity::note});
  diff_named(inner, part);
  append(part.findings, a.close());
  append(part.findings, b.close());
  if (context.told.precondition.empty()) context.told.precondition = inner.told.precondition;
  context.told.cut_short = context.told.cut_short || inner.told.cut_short;
  return part;
}

/// Compares what `context.told.named` has of one name on both sides, and empties it. As deep as
/// directories may lie in one another when they are opened.
void diff_named(DiffContext& context, Verdict& verdict) {
  const std::vector<NamedStates> waiting = std::exchange(context.told.named, {});
  for (const auto& [step, sides, alone] : waiting) {
    for (const NamedState& one : sides[0]) {
      const NamedState* const other = namesake(one, sides[1]);
      if (other == nullptr) continue;
      if (interrupted() != 0) {
        verdict.findings.push_back(
            verdict::interruption(fmt::format("{} was not compared", one.name)));
        context.told.cut_short = true;
        continue;
      }
      Verdict part;
      try {
        part = compare_named(one, *other, context);
      } catch (const Error& error) {
        verdict::report_unread_step(error, step, part);
      }
      add_named(one.name, step, std::move(part), verdict);
    }
    note_alone(sides[0], sides[1], step, alone, verdict);
  }
}

/// `context`: as none of its steps was compared.
Verdict diff_runs(DiffContext context) {
  const Run& reference = context.reference;
  const Run& candidate = context.candidate;
  Verdict verdict = head_of(reference, candidate);
  append(verdict.findings, reference.findings);
  append(verdict.findings, candidate.findings);
  if (!reference.real_path.empty() && reference.real_path == candidate.real_path) {
    verdict.findings.push_back(
        verdict::note(Code::duplicate_checkpoint, {}, "both sides are the same files"));
  }
  diff_steps(pair_steps(reference, candidate, context.how.steps, verdict), context, verdict);
  if (!context.how.steps || reference.several) {
    context.told.named.push_back({{},
                                  {reference.named, candidate.named},
                                  reference.several ? Severity::warning : Severity::note});
  }
  diff_named(context, verdict);
  if (!context.how.steps) append(verdict.findings, copies_of_steps(reference, candidate));
  append(verdict.findings, reference.close());
  append(verdict.findings, candidate.close());
  if (context.how.known) set_known_apart(*context.how.known, candidate.mesh, verdict);
  conclude_runs(context, verdict);
  return verdict;
}

}  // namespace

Verdict diff(const Run& reference, const Run& candidate, const DiffOptions& how) {
  require_namesakes(reference, candidate);
  require_namesakes(candidate, reference);
  require_steps(std::array{NamedRun{reference, "reference"}, NamedRun{candidate, "candidate"}},
                how.steps);
  const DiffContext context{reference, candidate, how};
  return judge_after_steps(context, diff_runs);
}

}  // namespace ttcheck::diff
