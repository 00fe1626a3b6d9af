#include "cli/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "cli/after_steps.hpp"
#include "cli/ensemble.hpp"
#include "cli/interrupt.hpp"
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
    context.last_step = i + 1 == pairs.size();
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
  verdict.coverage.bytes_read = context.reference.bytes_read() + context.candidate.bytes_read();
  if (context.options.limits.file) check_limits_met(*context.options.limits.file, verdict);
  verdict::conclude(verdict, context.precondition);
  const bool open = verdict.outcome == Outcome::not_comparable && context.precondition.empty();
  if (open && context.cut_short) verdict.reason = "interrupted";
}

namespace {

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
  append(verdict.findings, reference.close());
  append(verdict.findings, candidate.close());
  conclude_runs(context, verdict);
  return verdict;
}

}  // namespace

Verdict diff(const Run& reference, const Run& candidate, const Options& options,
             const align::AlignOptions& align) {
  DiffContext context{reference, candidate, options, align, {}, {}, {}, {}};
  context.recompute = true;
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
