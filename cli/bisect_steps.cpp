#include "cli/bisect_steps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cli/apart_left.hpp"
#include "cli/bisect_log.hpp"
#include "cli/by_manifest.hpp"
#include "cli/diff.hpp"
#include "cli/interrupt.hpp"
#include "cli/kept_inputs.hpp"
#include "cli/output.hpp"
#include "cli/side.hpp"
#include "cli/step_predicate.hpp"
#include "core/locate/bisect.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::cli {
namespace {

/// A signal came: what is known so far stands.
struct Interrupted {};

class StepSearch {
 public:
  explicit StepSearch(const BisectInput& input) : in_(input), options_(input.options) {
    options_.all = options_.all || options_.predicate == Predicate::non_finite;
  }

  Verdict run() {
    if (!options_.replay.empty()) known_ = read_bisect_log(options_.replay, in_.pairs);
    write_log();
    locate::Bisection found;
    try {
      found =
          locate::bisect(in_.pairs.size(), known_,
                         [this](std::size_t i, locate::Interval left) { return look(i, left); });
    } catch (const Interrupted&) {
      return cut_short();
    }
    if (auto failed = failed_precondition(found)) return std::move(*failed);
    const auto told = found.first_bad ? found.first_bad : found.last_good;
    if (told && !kept_.contains(*told)) kept_.emplace(*told, compare(*told, false).verdict);
    Verdict verdict =
        told ? std::move(kept_.at(*told)) : untold("no step could be told good or bad");
    verdict.search = summary(found);
    report(found, verdict);
    return verdict;
  }

 private:
  std::string step_words(std::size_t i) const {
    const auto& step = in_.pairs[i].step;
    return step ? fmt::format("step {}", *step) : std::string("the step");
  }

  /// Of a step that is bad, less than its comparison where that is enough: then `whole` is false.
  struct Looked {
    Verdict verdict;
    bool whole = true;
    bool non_finite = false;  ///< where no pair shows it
  };

  /// What parameters are apart since the step before counts only where a step is bad without it.
  Looked compare(std::size_t i, bool until_bad) {
    const auto known = apart_.find(i);
    Looked looked =
        compare(i, until_bad, known == apart_.end() ? parameters_before(i) : known->second);
    const bool bad = looked.verdict.outcome == Outcome::diverged;
    if (!bad || i == 0 || known != apart_.end() || !in_.reference.trace || !in_.candidate.trace) {
      return looked;
    }
    DiffContext before = context_of(i - 1);
    const ApartLeft& left = apart_[i] = apart_left_by(in_.pairs[i - 1], before);
    const bool tells = left.apart.any() || !left.carried.empty();
    if (tells) looked = compare(i, until_bad, left);
    const bool calls = left.calls && looked.verdict.outcome == Outcome::diverged;
    if (!calls && !is_bad_by_little(looked.verdict)) return looked;
    apart_[i] = apart_left_by_all(std::span(in_.pairs).first(i), context_of(0));
    return compare(i, until_bad, apart_[i]);
  }

  ApartLeft parameters_before(std::size_t i) const {
    if (i == 0 || !in_.reference.trace || !in_.candidate.trace) return {};
    DiffContext before = context_of(i - 1);
    return parameters_left_by(in_.pairs[i - 1], before);
  }

  DiffContext context_of(std::size_t i) const {
    DiffContext context{in_.reference, in_.candidate, options_, in_.align, {}, {}, {}, {}};
    context.first_step = i == 0;
    context.alone = i > 0;
    context.recompute = true;
    return context;
  }

  Looked compare(std::size_t i, bool until_bad, const ApartLeft& left) {
    Looked looked{head_of(in_.reference, in_.candidate, in_.options)};
    DiffContext context = context_of(i);
    context.apart = left.apart;
    context.carried = left.carried;
    context.parameters = left.parameters;
    context.until_bad = context.by_hash = until_bad;
    context.manifests = in_.manifests;
    diff_steps(std::span(in_.pairs).subspan(i, 1), context, looked.verdict);
    looked.whole = !context.bad;
    looked.non_finite = context.non_finite;
    if (looked.whole) {
      conclude_runs(context, looked.verdict);
    } else {
      looked.verdict.outcome = Outcome::diverged;
    }
    return looked;
  }

  /// Of the steps looked at, those at the edge are kept: the lowest bad and the highest good one.
  locate::Mark look(std::size_t i, locate::Interval left) {
    if (interrupted() != 0) throw Interrupted();
    locate::Mark mark = locate::Mark::skip;
    if (options_.run.empty()) {
      Looked looked = compare(i, options_.predicate == Predicate::diverged);
      mark = looked.non_finite ? locate::Mark::bad : mark_of(looked.verdict, options_.predicate);
      if (looked.whole && mark != locate::Mark::skip) keep(i, mark, std::move(looked.verdict));
    } else {
      mark = mark_by_command(in_.pairs[i], options_);
    }
    if (interrupted() != 0) throw Interrupted();  // it may have been cut short
    looked_.emplace_back(i, mark);
    write_log();
    if (options_.verbose >= 0 && options_.progress != When::never) {
      write_stderr(fmt::format("ttcheck: {} is {} (one of {} steps that were left)\n",
                               step_words(i), locate::name(mark), left.to - left.from));
    }
    return mark;
  }

  void keep(std::size_t i, locate::Mark mark, Verdict verdict) {
    std::optional<std::size_t>& edge = mark == locate::Mark::bad ? lowest_bad_ : highest_good_;
    const bool nearer = !edge || (mark == locate::Mark::bad ? i < *edge : i > *edge);
    if (!nearer) return;
    if (edge) kept_.erase(*edge);
    edge = i;
    kept_.emplace(i, std::move(verdict));
  }

  /// After each look, so that nothing is lost.
  void write_log() const {
    if (options_.log.empty()) return;
    std::string text = "# ttcheck bisect\n";
    for (const auto& [i, mark] : known_) text += bisect_log_line(in_.pairs[i], mark) + "\n";
    for (const auto& [i, mark] : looked_) text += bisect_log_line(in_.pairs[i], mark) + "\n";
    write_output(options_, options_.log, text);
  }

  Verdict untold(const std::string& reason) const {
    Verdict verdict = head_of(in_.reference, in_.candidate, in_.options);
    verdict.outcome = Outcome::not_comparable;
    verdict.reason = reason;
    verdict.complete = false;
    return verdict;
  }

  Verdict cut_short() {
    Verdict verdict = untold("interrupted");
    verdict.findings.push_back(interruption("the search was not finished"));
    verdict.search = summary({});
    return verdict;
  }

  /// Two traces that did not start alike have no first bad step: what differs is their beginning.
  std::optional<Verdict> failed_precondition(const locate::Bisection& found) {
    const bool traces = in_.reference.trace && in_.candidate.trace;
    const bool asked = options_.predicate == Predicate::diverged && options_.run.empty();
    if (!found.first_bad || !traces || !asked) return std::nullopt;
    Verdict first = compare(0, false).verdict;
    if (first.outcome != Outcome::not_comparable || !first.first) return std::nullopt;
    first.search = summary({});
    return first;
  }

  Search summary(const locate::Bisection& found) const {
    Search search;
    search.axis = "steps";
    search.total = std::ssize(in_.pairs);
    search.examined = std::ssize(looked_);
    if (found.first_bad) search.first_bad_step = in_.pairs[*found.first_bad].step;
    if (found.last_good) search.last_good_step = in_.pairs[*found.last_good].step;
    for (const auto& [i, mark] : known_) {
      search.log.push_back(bisect_log_line(in_.pairs[i], mark) + " (replayed)");
    }
    for (const auto& [i, mark] : looked_) {
      search.log.push_back(bisect_log_line(in_.pairs[i], mark));
    }
    return search;
  }

  /// What the search leaves open.
  void report(const locate::Bisection& found, Verdict& verdict) const {
    if (!found.unknown.empty()) {
      std::vector<std::string> steps;
      for (const std::size_t i : found.unknown) steps.push_back(step_words(i));
      Finding finding;
      finding.code = Code::unreadable;
      finding.severity = Severity::warning;
      finding.incomplete = true;
      finding.message =
          fmt::format("could not be told good or bad: {}; the first bad step may be one of them",
                      fmt::join(steps, ", "));
      verdict.findings.push_back(std::move(finding));
    }
    if (!found.first_bad && found.last_good &&
        std::ssize(in_.pairs) > std::ssize(looked_) + std::ssize(known_)) {
      verdict.findings.push_back(verdict::note(
          Code::diverged, {},
          fmt::format("{} is not bad, so the steps between were not looked at: a run that went bad "
                      "and came back would show in a diff alone",
                      step_words(*found.last_good))));
    }
    if (const auto unread = verdict.tally.limits.find(kByManifest);
        unread != verdict.tally.limits.end()) {
      verdict.findings.push_back(verdict::note(
          Code::checksum, {},
          fmt::format("{} tensors are equal by what the manifests say of them, unread; whether the "
                      "files are still those, manifest --verify tells",
                      unread->second)));
    }
    const bool shown = verdict.outcome == Outcome::diverged;
    if (found.first_bad && !shown) {  // by a command, or by a predicate that is no difference
      Finding finding;
      finding.code = options_.predicate == Predicate::non_finite        ? Code::non_finite
                     : options_.predicate == Predicate::replicas_differ ? Code::replica_mismatch
                                                                        : Code::diverged;
      finding.step = in_.pairs[*found.first_bad].step;
      finding.message = fmt::format("{} is the first bad one", step_words(*found.first_bad));
      verdict.findings.push_back(std::move(finding));
    }
    for (const Finding& finding : verdict.findings) {
      if (finding.incomplete) verdict.complete = false;
    }
    const bool alike = verdict.outcome == Outcome::equal || verdict.outcome == Outcome::noise;
    if (verdict.complete || !alike) return;
    verdict.outcome = Outcome::not_comparable;
    verdict.reason = "incomplete";
  }

  const BisectInput& in_;
  Options options_;
  std::map<std::size_t, locate::Mark> known_;                 ///< replayed
  std::vector<std::pair<std::size_t, locate::Mark>> looked_;  ///< in that order
  std::map<std::size_t, Verdict> kept_;
  std::map<std::size_t, ApartLeft> apart_;  ///< by the steps before, where it was asked
  std::optional<std::size_t> lowest_bad_, highest_good_;
};

}  // namespace

Verdict bisect_steps(const BisectInput& input) { return StepSearch(input).run(); }

}  // namespace ttcheck::cli
