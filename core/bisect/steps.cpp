// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/interrupted.hpp"
#include "core/bisect/bisect.hpp"
#include "core/bisect/log.hpp"
#include "core/bisect/opened_once.hpp"
#include "core/diff/compared_once.hpp"
#include "core/diff/diff.hpp"
#include "core/diff/head.hpp"
#include "core/diff/judge_by_manifest.hpp"
#include "core/diff/left_before.hpp"
#include "core/verdict/findings.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::bisect {
namespace {

/// A signal came: what is known so far stands.
struct Interrupted {};

class StepSearch {
 public:
  explicit StepSearch(const SearchInput& input)
      : in_(input),
        reference_(opened_once(input.reference)),
        candidate_(opened_once(input.candidate)),
        how_(input.how) {
    how_.seek_non_finite = input.bad == Predicate::non_finite;
    how_.keep_equal = how_.keep_equal || how_.seek_non_finite;
  }

  Verdict run() {
    Bisection found;
    known_ = in_.known;
    const auto likely = diff::first_apart_by_manifest(in_.pairs, {reference_, candidate_, how_});
    try {
      do {
        found = search(
            in_.pairs.size(), known_,
            [this](std::size_t i, Interval left) { return look(i, left); }, may_heal(), likely);
      } while ((found.last_good && was_bad_all_the_same(*found.last_good)) ||
               (found.first_bad && was_good_all_the_same(*found.first_bad)));
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

  bool traces() const { return reference_.trace && candidate_.trace; }

  /// Whether bad is what `diff` calls diverged.
  bool asks_diff() const { return in_.bad == Predicate::diverged && !in_.judge; }

  /// A step of a trace that is no other starts from what all before it left, so that these were
  /// none either; a checkpoint tells nothing of those before, and what overflowed is skipped.
  bool may_heal() const { return !traces() || !asks_diff(); }

  bool knows_all_before(std::size_t i) const {
    const auto left = left_.find(i);
    return left != left_.end() && left->second.noise.whole;
  }

  /// What a look at a step found: of one that is bad less than its comparison, where that is
  /// enough; then `whole` is false.
  struct Looked {
    Verdict verdict;
    bool whole;
    bool non_finite;  ///< where no pair shows it
  };

  /// What parameters are apart since the step before counts only where a step is bad without it.
  Looked compare(std::size_t i, bool until_bad) {
    const auto known = left_.find(i);
    const bool told = known != left_.end();
    Looked looked = compare(i, until_bad, told ? known->second.noise : parameters_before(i));
    const bool bad = looked.verdict.outcome == Outcome::diverged;
    const bool little = bad && diff::is_bad_by_little(looked.verdict);
    if (i == 0 || !traces() || !bad || knows_all_before(i) || (told && !little)) return looked;
    const diff::LeftBefore& left = left_[i] = left_before(i, little);
    const bool tells =
        left.noise.apart.any() || left.noise.by_chance() || !left.noise.multiples.empty();
    return tells ? compare(i, until_bad, left.noise) : looked;
  }

  /// Whether a step that is good by what those before it may have left is bad by what they left; it
  /// is marked so, then.
  bool was_bad_all_the_same(std::size_t i) {
    const auto kept = kept_.find(i);
    if (i == 0 || kept == kept_.end() || knows_all_before(i)) return false;
    const auto left = left_.find(i);
    const noise::Carried none;
    const auto parameters =
        diff::rests_on_before(kept->second, left == left_.end() ? none : left->second.noise);
    if (parameters.empty()) return false;
    const auto before = std::span(in_.pairs).first(i);
    const auto is_bad = [&](const diff::LeftBefore& known) {
      return compare(i, true, known.noise).verdict.outcome == Outcome::diverged;
    };
    if (!is_bad(diff::left_by_all(before, context_of(0), {}, parameters))) return false;
    left_[i] = left_before(i, true);
    if (!is_bad(left_[i])) return false;
    kept_.erase(kept);
    highest_good_.reset();
    mark_again(i, Mark::bad);
    return true;
  }

  /// Whether the first step that is bad by what the one before it left is good by what all before
  /// it left; it is marked so, then.
  bool was_good_all_the_same(std::size_t i) {
    if (!asks_diff() || i < 2 || knows_all_before(i) || !traces()) return false;
    if (!kept_.contains(i)) keep(i, Mark::bad, compare(i, false).verdict);
    if (diff::is_bad_whatever_was_left(kept_.at(i))) return false;
    left_[i] = left_before(i, true);
    Looked looked = compare(i, true, left_[i].noise);
    if (looked.verdict.outcome == Outcome::diverged) return false;
    if (lowest_bad_ == i) lowest_bad_.reset();
    kept_.erase(i);
    keep(i, Mark::good, std::move(looked.verdict));
    mark_again(i, Mark::good);
    return true;
  }

  /// The search goes on from what all looks told.
  void mark_again(std::size_t i, Mark now) {
    for (auto& [place, mark] : looked_) {
      if (place == i) mark = now;
      known_[place] = mark;
    }
  }

  /// What the step before leaves; as all before it left it where that is asked for, since the step
  /// is bad by a little or may be excused by it, or where an optimizer's calls start from what the
  /// last one left.
  diff::LeftBefore left_before(std::size_t i, bool all) {
    if (!all) {
      diff::DiffContext before = context_of(i - 1);
      diff::LeftBefore left = diff::left_by(in_.pairs[i - 1], before);
      if (!left.calls) return left;
    }
    return diff::left_by_all(std::span(in_.pairs).first(i), context_of(0));
  }

  noise::Carried parameters_before(std::size_t i) {
    if (i == 0 || !traces()) return {};
    diff::DiffContext before = context_of(i - 1);
    return diff::parameters_left_by(in_.pairs[i - 1], before).noise;
  }

  diff::DiffContext context_of(std::size_t i) {
    diff::DiffContext context{reference_, candidate_, how_};
    context.how.manifests = {};
    context.memory.first_step = i == 0;
    context.memory.alone = i > 0;
    context.once = &once_;
    return context;
  }

  Looked compare(std::size_t i, bool until_bad, const noise::Carried& left) {
    Verdict verdict = diff::head_of(reference_, candidate_);
    diff::DiffContext context = context_of(i);
    context.memory.noise = left;
    context.how.until_bad = context.how.by_hash = until_bad;
    context.how.manifests = how_.manifests;
    diff::diff_steps(std::span(in_.pairs).subspan(i, 1), context, verdict);
    const bool whole = !context.told.bad;
    if (whole) {
      diff::conclude_runs(context, verdict);
    } else {
      verdict.outcome = Outcome::diverged;
    }
    return {std::move(verdict), whole, context.told.non_finite};
  }

  /// Marks a step. Of those looked at, those at the edge are kept: the lowest bad and the highest
  /// good one.
  Mark look(std::size_t i, Interval left) {
    if (interrupted() != 0) throw Interrupted();
    Mark mark = Mark::skip;
    if (in_.judge) {
      mark = in_.judge(in_.pairs[i]);
    } else {
      Looked looked = compare(i, in_.bad == Predicate::diverged);
      mark = looked.non_finite ? Mark::bad : mark_of(looked.verdict, in_.bad);
      if (looked.whole && mark != Mark::skip) keep(i, mark, std::move(looked.verdict));
    }
    if (interrupted() != 0) throw Interrupted();  // it may have been cut short
    looked_.emplace_back(i, mark);
    if (in_.looked) in_.looked(i, mark, left);
    return mark;
  }

  void keep(std::size_t i, Mark mark, Verdict verdict) {
    std::optional<std::size_t>& edge = mark == Mark::bad ? lowest_bad_ : highest_good_;
    const bool nearer = !edge || (mark == Mark::bad ? i < *edge : i > *edge);
    if (!nearer) return;
    if (edge) kept_.erase(*edge);
    edge = i;
    kept_.emplace(i, std::move(verdict));
  }

  Verdict untold(const std::string& reason) const {
    Verdict verdict = diff::head_of(reference_, candidate_);
    verdict.outcome = Outcome::not_comparable;
    verdict.reason = reason;
    verdict.complete = false;
    return verdict;
  }

  Verdict cut_short() {
    Verdict verdict = untold("interrupted");
    verdict.findings.push_back(verdict::interruption("the search was not finished"));
    verdict.search = summary({});
    return verdict;
  }

  /// Two traces that did not start alike have no first bad step: what differs is their beginning.
  /// One that is good shows that they did.
  std::optional<Verdict> failed_precondition(const Bisection& found) {
    if (!found.first_bad || found.last_good || !traces() || !asks_diff()) return std::nullopt;
    Verdict first = compare(0, false).verdict;
    if (first.outcome != Outcome::not_comparable || !first.first) return std::nullopt;
    first.search = summary({});
    return first;
  }

  Search summary(const Bisection& found) const {
    Search search;
    search.axis = "steps";
    search.total = std::ssize(in_.pairs);
    search.examined = std::ssize(looked_);
    if (found.first_bad) search.first_bad_step = in_.pairs[*found.first_bad].step;
    if (found.last_good) search.last_good_step = in_.pairs[*found.last_good].step;
    for (const auto& [i, mark] : in_.known) {
      search.log.push_back(log_line(in_.pairs[i], mark) + " (replayed)");
    }
    for (const auto& [i, mark] : looked_) {
      search.log.push_back(log_line(in_.pairs[i], mark));
    }
    return search;
  }

  /// What the search leaves open.
  void report(const Bisection& found, Verdict& verdict) const {
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
        std::ssize(in_.pairs) > std::ssize(looked_) + std::ssize(in_.known)) {
      verdict.findings.push_back(verdict::note(
          Code::diverged, {},
          fmt::format("{} is not bad, so the steps between were not looked at: a run that went bad "
                      "and came back would show in a diff alone",
                      step_words(*found.last_good))));
    }
    if (const auto unread = verdict.tally.limits.find(diff::kManifestSource);
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
      finding.code = in_.bad == Predicate::non_finite        ? Code::non_finite
                     : in_.bad == Predicate::replicas_differ ? Code::replica_mismatch
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

  const SearchInput& in_;
  std::map<std::size_t, Mark> known_;  ///< replayed, and what a second look told
  Run reference_, candidate_;
  diff::DiffOptions how_;
  std::vector<std::pair<std::size_t, Mark>> looked_;  ///< in that order
  std::map<std::size_t, Verdict> kept_;
  std::map<std::size_t, diff::LeftBefore> left_;  ///< by the steps before, where it was asked
  diff::ComparedOnce once_;
  std::optional<std::size_t> lowest_bad_, highest_good_;
};

}  // namespace

Verdict over_steps(const SearchInput& input) { return StepSearch(input).run(); }

}  // namespace ttcheck::bisect
