#include "cli/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "cli/after_steps.hpp"
#include "cli/ensemble.hpp"
#include "cli/first_unmet.hpp"
#include "cli/interrupt.hpp"
#include "cli/leftovers.hpp"
#include "cli/named_states.hpp"
#include "cli/side.hpp"
#include "core/base/parallel.hpp"
#include "core/verdict/conclude.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::cli {

Verdict head_of(const Run& reference, const Run& candidate, const Options& options) {
  Verdict verdict;
  verdict.command = options.command;
  verdict.argv = options.argv;
  verdict.reference = summary_of(reference);
  verdict.candidate = summary_of(candidate);
  return verdict;
}

void diff_steps(std::span<const StepPair> pairs, DiffContext& context, Verdict& verdict) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (interrupted() != 0) {
      verdict.findings.push_back(interruption(
          fmt::format("{} of {} steps were not compared", pairs.size() - i, pairs.size())));
      context.cut_short = true;
      break;
    }
    context.last_step = context.ends && i + 1 == pairs.size();
    diff_step(pairs[i], context, verdict);
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
  verdict.coverage.bytes_read += context.reference.bytes_read() + context.candidate.bytes_read();
  if (context.options.limits.file) check_limits_met(*context.options.limits.file, verdict);
  verdict::conclude(verdict, context.precondition);
  if (verdict.outcome == Outcome::diverged && !verdict.first) verdict.first = first_unmet(verdict);
  const bool open = verdict.outcome == Outcome::not_comparable && context.precondition.empty();
  if (open && context.cut_short) verdict.reason = "interrupted";
}

namespace {

void diff_named(DiffContext& context, Verdict& verdict);

/// Two states of one name, and what lies beside these. Throws Error when one cannot be opened.
Verdict compare_named(const NamedState& reference, const NamedState& candidate,
                      DiffContext& context) {
  const Run a = reference.open();
  const Run b = candidate.open();
  Verdict part = head_of(a, b, context.options);
  append(part.findings, a.findings);
  append(part.findings, b.findings);
  DiffContext inner{a, b, context.options, context.align, {}, {}, {}, {}};
  inner.recompute = context.recompute;
  try {
    diff_steps(pair_steps(a, b, context.options, part), inner, part);
  } catch (const Error& error) {
    report_unread_step(error, {}, part);
  }
  inner.named.push_back({{}, {a.named, b.named}});
  diff_named(inner, part);
  append(part.findings, a.close());
  append(part.findings, b.close());
  part.coverage.bytes_read += a.bytes_read() + b.bytes_read();
  if (context.precondition.empty()) context.precondition = inner.precondition;
  context.cut_short = context.cut_short || inner.cut_short;
  return part;
}

/// Compares what `context.named` has of one name on both sides, and empties it. As deep as
/// directories may lie in one another when they are opened.
void diff_named(DiffContext& context, Verdict& verdict) {
  const std::vector<NamedStates> waiting = std::exchange(context.named, {});
  for (const auto& [step, sides] : waiting) {
    for (const NamedState& one : sides[0]) {
      const NamedState* const other = namesake(one, sides[1]);
      if (other == nullptr) continue;
      if (interrupted() != 0) {
        verdict.findings.push_back(interruption(fmt::format("{} was not compared", one.name)));
        context.cut_short = true;
        continue;
      }
      Verdict part;
      try {
        part = compare_named(one, *other, context);
      } catch (const Error& error) {
        report_unread_step(error, step, part);
      }
      add_named(one.name, step, std::move(part), verdict);
    }
    note_alone(sides[0], sides[1], step, verdict);
  }
}

/// `context`: as no step was compared. `left`: what steps that are not compared left apart.
Verdict diff_runs(DiffContext context, ApartLeft left) {
  const Run& reference = context.reference;
  const Run& candidate = context.candidate;
  context.apart = left.apart;
  context.carried = std::move(left.carried);
  context.parameters = std::move(left.parameters);
  Verdict verdict = head_of(reference, candidate, context.options);
  append(verdict.findings, reference.findings);
  append(verdict.findings, candidate.findings);
  diff_steps(pair_steps(reference, candidate, context.options, verdict), context, verdict);
  if (!context.options.steps) context.named.push_back({{}, {reference.named, candidate.named}});
  diff_named(context, verdict);
  append(verdict.findings, reference.close());
  append(verdict.findings, candidate.close());
  conclude_runs(context, verdict);
  return verdict;
}

}  // namespace

Verdict diff(const Run& reference, const Run& candidate, const Options& options,
             const align::AlignOptions& align) {
  DiffContext context{reference, candidate, options, align, {}, {}, {}, {}};
  context.recompute = context.ends = true;
  return judge_after_steps(context,
                           [&](ApartLeft left) { return diff_runs(context, std::move(left)); });
}

Verdict diff(const Options& options) {
  if (options.ensemble) return diff_ensembles(options);
  set_threads(options.threads);
  const align::AlignOptions align = align_options(options);
  const std::array<Run, 2> sides = open_both(options);
  return diff(sides[0], sides[1], options, align);
}

}  // namespace ttcheck::cli
