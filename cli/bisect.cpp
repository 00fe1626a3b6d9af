// SPDX-License-Identifier: Apache-2.0
#include "cli/bisect.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <optional>
#include <string>

#include "cli/diff_options.hpp"
#include "cli/kept_inputs.hpp"
#include "cli/open.hpp"
#include "cli/output.hpp"
#include "cli/step_predicate.hpp"
#include "cli/usage.hpp"
#include "core/base/for_reason.hpp"
#include "core/base/parallel.hpp"
#include "core/bisect/bisect.hpp"
#include "core/bisect/log.hpp"
#include "core/diff/steps.hpp"
#include "formats/bytes/place.hpp"
#include "formats/bytes/read_text.hpp"
#include "formats/own/manifest.hpp"

namespace ttcheck::cli {
namespace {

bool over_ops(const Options& options, const bisect::SearchInput& input) {
  if (options.over != Over::automatic) return options.over == Over::ops;
  return input.reference.trace && input.candidate.trace && input.pairs.size() == 1 &&
         options.run.empty();
}

/// The manifests of each side that were named, joined.
std::array<std::optional<Manifest>, 2> manifests_of(const Options& options) {
  std::array<std::optional<Manifest>, 2> sides;
  for (const SideFile& file : options.manifests) {
    Manifest read = formats::read_manifest(file.path);
    auto& side = sides.at(file.side == Side::reference ? 0 : 1);
    if (!side) side.emplace();
    side->entries.merge(read.entries);
  }
  return sides;
}

/// What the flags cannot mean together.
void check(const Options& options, bool ops) {
  const bool others = options.predicate != bisect::Predicate::diverged || !options.run.empty();
  if (!options.manifests.empty() && (ops || others)) {
    throw Usage("--manifest: hashes tell only, over steps, which have diverged");
  }
  if (ops && (others || !options.log.empty() || !options.replay.empty())) {
    throw Usage("--over ops: --bad, --run, --log and --replay are of a search over steps");
  }
}

/// The log of a search over steps, written anew after each look, so that nothing is lost.
class Log {
 public:
  Log(const Options& options, const bisect::SearchInput& input) : options_(options), in_(input) {
    for (const auto& [i, mark] : in_.known) add(i, mark);
    write();
  }

  void looked(std::size_t i, bisect::Mark mark, bisect::Interval left) {
    add(i, mark);
    write();
    if (options_.verbose < 0 || options_.progress == When::never) return;
    const auto& step = in_.pairs[i].step;
    write_stderr(fmt::format("ttcheck: {} is {}; it was one of {}\n",
                             step ? fmt::format("step {}", *step) : std::string("the step"),
                             mark == bisect::Mark::skip ? "skipped" : bisect::name(mark),
                             left.to - left.from));
  }

 private:
  void add(std::size_t i, bisect::Mark mark) {
    text_ += bisect::log_line(in_.pairs[i], mark) + "\n";
  }

  void write() const {
    if (!options_.log.empty()) write_output(options_, options_.log, text_);
  }

  const Options& options_;
  const bisect::SearchInput& in_;
  std::string text_ = "# ttcheck bisect\n";
};

Verdict over_steps(bisect::SearchInput& input, const Options& options) {
  if (!options.replay.empty()) {
    input.known = for_reason("bad-log", [&] {
      return bisect::parse_log(formats::read_text(options.replay), options.replay, input.pairs);
    });
  }
  if (!options.run.empty()) {
    input.judge = [&](const StepPair& step) { return mark_by_command(step, options); };
  }
  Log log(options, input);
  input.looked = [&](std::size_t i, bisect::Mark mark, bisect::Interval left) {
    log.looked(i, mark, left);
  };
  Verdict verdict = bisect::over_steps(input);
  verdict.search->bytes_total =
      formats::bytes_below(options.words.at(0)) + formats::bytes_below(options.words.at(1));
  return verdict;
}

}  // namespace

Verdict bisect(const Options& options) {
  set_threads(options.threads);
  diff::DiffOptions how = diff_options(options);
  const auto [reference, candidate] = open_both(options.words.at(0), options.words.at(1), options);
  diff::require_steps(
      std::array{diff::NamedRun{reference, "reference"}, diff::NamedRun{candidate, "candidate"}},
      options.steps);
  how.look_at_others = false;  // it reads as little as it can
  Verdict head;
  append(head.findings, reference.findings);
  append(head.findings, candidate.findings);
  const auto manifests = manifests_of(options);
  for (std::size_t i = 0; i < manifests.size(); ++i) {
    if (manifests[i]) how.manifests[i] = &*manifests[i];
  }
  bisect::SearchInput input{reference, candidate,
                            diff::pair_steps(reference, candidate, options.steps, head), how};
  input.bad = options.predicate;
  const bool ops = over_ops(options, input);
  check(options, ops);
  Verdict verdict = ops ? bisect::over_ops(input) : over_steps(input, options);
  verdict.findings.insert(verdict.findings.begin(), std::make_move_iterator(head.findings.begin()),
                          std::make_move_iterator(head.findings.end()));
  verdict.coverage.steps_only_reference = head.coverage.steps_only_reference;
  verdict.coverage.steps_only_candidate = head.coverage.steps_only_candidate;
  append(verdict.findings, reference.close());
  append(verdict.findings, candidate.close());
  for (const Finding& finding : verdict.findings) {
    if (finding.incomplete) verdict.complete = false;
  }
  verdict.search->bytes_read = verdict.coverage.bytes_read =
      reference.bytes_read() + candidate.bytes_read();
  return verdict;
}

}  // namespace ttcheck::cli
