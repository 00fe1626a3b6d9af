#include "cli/diff.hpp"

#include <fmt/format.h>

#include <array>

#include "cli/interrupt.hpp"
#include "cli/side.hpp"
#include "cli/step_diff.hpp"
#include "cli/steps.hpp"
#include "core/base/parallel.hpp"
#include "core/verdict/conclude.hpp"

namespace ttcheck::cli {
namespace {

align::AlignOptions align_options(const Options& options) {
  align::AlignOptions align{options.include, options.exclude, {}, {}, {}, {}};
  for (const std::string& path : options.maps) {
    const Layout file = parse_layout(read_text(path), path);
    align.maps.insert(align.maps.end(), file.maps.begin(), file.maps.end());
    align.numbers.insert(file.model.begin(), file.model.end());
  }
  return align;
}

}  // namespace

Verdict diff(const Options& options) {
  set_threads(options.threads);
  const align::AlignOptions align = align_options(options);
  std::array<Run, 2> sides;
  parallel_for(sides.size(), [&](std::size_t i) {
    sides[i] = open_side(options.words.at(i), i == 0 ? Side::reference : Side::candidate, options);
  });
  const auto& [reference, candidate] = sides;

  Verdict verdict;
  verdict.command = "diff";
  verdict.argv = options.argv;
  verdict.reference = summary_of(reference);
  verdict.candidate = summary_of(candidate);
  append(verdict.findings, reference.findings);
  append(verdict.findings, candidate.findings);

  DiffContext context{reference, candidate, options, align, {}, {}, {}, true, false, false};
  const std::vector<StepPair> pairs = pair_steps(reference, candidate, options, verdict);
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
  append(verdict.findings, reference.close());
  append(verdict.findings, candidate.close());
  verdict.coverage.bytes_read = reference.bytes_read() + candidate.bytes_read();
  verdict::conclude(verdict, context.precondition);
  const bool open = verdict.outcome == Outcome::not_comparable && context.precondition.empty();
  if (open && context.cut_short) verdict.reason = "interrupted";
  return verdict;
}

}  // namespace ttcheck::cli
