// SPDX-License-Identifier: Apache-2.0
// Whether two checkpoints are copies of each other, and so which limit holds, depends on all of
// their tensors: these are read, too, unless the limit is the same either way. What gradients that
// are noise have moved (core/noise/updates) depends on a tensor's other records and its bias: these
// are judged beside it.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "core/base/interrupted.hpp"
#include "core/diff/diff.hpp"
#include "core/diff/explain_step.hpp"
#include "core/diff/head.hpp"
#include "core/diff/judge_pairs.hpp"
#include "core/diff/judge_unread.hpp"
#include "core/diff/meet.hpp"
#include "core/diff/meet_filters.hpp"
#include "core/diff/steps.hpp"
#include "core/locate/first.hpp"
#include "core/model/stated_numbers.hpp"
#include "core/show/parts.hpp"
#include "core/show/show.hpp"
#include "core/verdict/conclude.hpp"
#include "core/verdict/coverage.hpp"
#include "core/verdict/findings.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::show {
namespace {

/// The tensor in one step, judged.
struct Sight {
  std::unique_ptr<diff::MetStep> met;
  std::optional<TensorResult> result;  ///< none where it could not be judged
  compare::Pair pair;                  ///< no tensors where its bytes were not compared
  std::vector<Finding> findings;       ///< about it
  Coverage coverage;
  std::size_t record = 0, records = 0;

  /// 3: beyond its limit, or not to be compared; 2: it differs; 1: equal.
  int weight() const {
    if (!result || result->outcome() == Outcome::diverged) return 3;
    return result->outcome() == Outcome::equal ? 1 : 2;
  }
};

/// Keeps the place of the first sight of the greatest weight, or of the last where all are equal.
bool better(const Sight& now, const std::optional<Sight>& best) {
  if (!best) return true;
  return now.weight() > best->weight() || (now.weight() == 1 && best->weight() == 1);
}

class PairShow {
 public:
  PairShow(const Run& reference, const Run& candidate, const Wanted& wanted,
           const diff::DiffOptions& how)
      : wanted_(wanted), context_{reference, candidate, how} {
    context_.how.keep_equal = true;  // equal pairs have a result, too
    context_.how.ends = context_.how.recompute = false;
  }

  /// The step to be shown. Throws Error where none has the tensor.
  Sight look(std::span<const StepPair> pairs, Verdict& verdict) {
    std::optional<Sight> best;
    for (const StepPair& steps : pairs) {
      if (interrupted() != 0) break;
      auto sight = see(steps, verdict);
      if (!sight) continue;
      ++steps_seen_;
      if (better(*sight, best)) best = std::move(sight);
      if (best->weight() == 3) break;
    }
    if (best) return std::move(*best);
    if (interrupted() != 0) throw Error("interrupted before the tensor was found");
    throw only_on_.empty() ? wanted_.unknown(names_, context_.reference.path)
                           : Error(only_on_, {.file = context_.reference.path});
  }

  std::size_t steps_seen() const { return steps_seen_; }
  const diff::DiffContext& context() const { return context_; }

 private:
  std::optional<Sight> see(const StepPair& steps, Verdict& verdict) {
    Verdict scratch = diff::head_of(context_.reference, context_.candidate);
    auto met = diff::meet_step(steps, context_, scratch);
    if (!met) {
      append(verdict.findings, std::move(scratch.findings));
      return std::nullopt;
    }
    const auto chosen = pairs_of(*met);
    if (chosen.empty()) return std::nullopt;
    diff::judge_unread(*met, context_, scratch);
    judge(*met, chosen, steps, scratch);
    if (met->trace) judge_as_diff(*met, chosen, scratch);
    return sight_of(std::move(*met), chosen, scratch);
  }

  /// The reference's name of the tensor that is meant; it is noted why where there is none.
  std::optional<std::string> name_in(const diff::MetStep& met) {
    const auto& reference = met.sides->at(0).assembly.tensors;
    const auto& candidate = met.sides->at(1).assembly.tensors;
    std::vector<std::string> left, right;
    for (const Tensor& tensor : reference) left.push_back(tensor.identity.name);
    for (const Tensor& tensor : candidate) right.push_back(tensor.identity.name);
    std::map<std::string, std::string> met_as;
    for (const align::PairIndex& pair : met.alignment.pairs) {
      met_as.emplace(candidate[pair.candidate].identity.name,
                     reference[pair.reference].identity.name);
    }
    names_ = left;
    if (const auto name = wanted_.among(left)) return name;
    const auto theirs = wanted_.among(right);
    if (!theirs) return std::nullopt;
    if (const auto found = met_as.find(*theirs); found != met_as.end()) return found->second;
    only_on_ = fmt::format("only the candidate has '{}'", *theirs);
    return std::nullopt;
  }

  /// Indices of the alignment's pairs: records of that name, in order.
  std::vector<std::size_t> pairs_of(const diff::MetStep& met) {
    const auto name = name_in(met);
    std::vector<std::size_t> found;
    if (!name) return found;
    const auto& reference = met.sides->at(0).assembly.tensors;
    for (std::size_t i = 0; i < met.alignment.pairs.size(); ++i) {
      const Identity& identity = reference[met.alignment.pairs[i].reference].identity;
      if (identity.name == *name && wanted_.admits(identity)) found.push_back(i);
    }
    if (found.empty()) {
      only_on_ = fmt::format("only the reference has '{}', or the flags leave it out", *name);
    }
    return found;
  }

  const Tensor& reference_of(const diff::MetStep& met, std::size_t pair) const {
    return met.sides->at(0).assembly.tensors[met.alignment.pairs[pair].reference];
  }

  /// Places in the step's work of records of the chosen pairs' names: what their verdict may depend
  /// on.
  std::vector<std::size_t> places_of(const diff::MetStep& met,
                                     std::span<const std::size_t> chosen) const {
    std::set<std::string> names;
    for (const std::size_t pair : chosen) names.insert(reference_of(met, pair).identity.name);
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < met.work.pairs.size(); ++i) {
      if (names.contains(met.work.pairs[i].reference->identity.name)) wanted.push_back(i);
    }
    return wanted;
  }

  void judge(diff::MetStep& met, std::span<const std::size_t> chosen, const StepPair& steps,
             Verdict& scratch) {
    const std::vector<std::size_t> wanted = places_of(met, chosen);
    if (wanted.empty()) return;
    diff::Work some = diff::some_of(met.work, wanted);
    diff::judge_all(some, met.trace, steps, context_, scratch, diff::without(met.work, wanted));
    diff::put_back(some, wanted, met.work);
  }

  /// Judges records that differ as `diff` does, which rests on all others, of earlier steps, too.
  /// Where those are many, the records stand alone, and a finding says so.
  void judge_as_diff(const diff::MetStep& met, std::span<const std::size_t> chosen,
                     Verdict& scratch) {
    std::vector<TensorResult*> results;
    for (TensorResult& one : scratch.tensors) {
      const bool own = std::ranges::find(chosen, one.pair) != chosen.end();
      if (own && one.outcome() != Outcome::equal) results.push_back(&one);
    }
    if (results.empty()) return;
    const std::uint64_t bytes = diff::bytes_of(met.work);
    if (bytes > diff::kMostEvidence) {
      Finding note = diff::stands_alone(bytes, met.step);
      note.tensor = results.front()->identity.name;
      scratch.findings.push_back(std::move(note));
      return;
    }
    if (!whole_) {
      diff::DiffOptions how = context_.how;
      how.recompute = true;
      if (how.steps) how.steps->first.reset();  // what they left counts
      whole_ = diff::diff(context_.reference, context_.candidate, how);
    }
    for (TensorResult* const result : results) {
      const auto found = std::ranges::find_if(whole_->tensors, [&](const TensorResult& one) {
        return one.step == result->step && one.identity == result->identity;
      });
      if (found != whole_->tensors.end()) *result = *found;
    }
  }

  /// The worst record of the step.
  Sight sight_of(diff::MetStep&& met, std::span<const std::size_t> chosen, Verdict& scratch) {
    Sight sight;
    sight.met = std::make_unique<diff::MetStep>(std::move(met));
    sight.records = chosen.size();
    const auto result_at = [&](std::size_t pair) -> const TensorResult* {
      const Identity& identity = reference_of(*sight.met, pair).identity;
      const auto found = std::ranges::find(scratch.tensors, identity, &TensorResult::identity);
      return found == scratch.tensors.end() ? nullptr : &*found;
    };
    int weight = 0;
    for (std::size_t n = 0; n < chosen.size(); ++n) {
      const TensorResult* result = result_at(chosen[n]);
      const int own = result == nullptr                        ? 1
                      : result->outcome() == Outcome::diverged ? 3
                      : result->outcome() == Outcome::equal    ? 0
                                                               : 2;
      if (n > 0 && own <= weight) continue;
      weight = own;
      sight.record = n;
      sight.result.reset();
      if (result != nullptr) sight.result = *result;
    }
    const compare::Pair* const compared = sight.met->pairs[chosen[sight.record]].compared;
    if (sight.result && compared != nullptr) sight.pair = *compared;
    keep_findings(sight, chosen[sight.record], scratch);
    return sight;
  }

  /// What was found about this tensor, or keeps part of it from being read.
  void keep_findings(Sight& sight, std::size_t pair, Verdict& scratch) const {
    const Tensor& reference = reference_of(*sight.met, pair);
    const Tensor& candidate =
        sight.met->sides->at(1).assembly.tensors[sight.met->alignment.pairs[pair].candidate];
    const bool holes = !reference.holes.empty() || !candidate.holes.empty();
    for (Finding& finding : scratch.findings) {
      const bool own =
          finding.tensor == reference.identity.name || finding.tensor == candidate.identity.name;
      if (own || (holes && finding.tensor.empty() && finding.incomplete)) {
        sight.findings.push_back(std::move(finding));
      }
    }
    Coverage& coverage = sight.coverage;
    const bool shapes = std::ranges::any_of(sight.findings, [](const Finding& finding) {
      return finding.code == Code::shape_or_dtype;
    });
    coverage.paired = sight.result || shapes ? 1 : 0;
    const bool unread = !sight.result && std::ranges::any_of(sight.findings, &Finding::incomplete);
    coverage.unreadable = unread ? 1 : 0;
    coverage.bytes_compared = sight.result ? logical_bytes(reference) : 0;
    coverage.bytes_unclaimed = scratch.coverage.bytes_unclaimed;
    const auto others = static_cast<std::int64_t>(sight.met->alignment.pairs.size()) - 1;
    if (others > 0) verdict::exclude(coverage, "show", others);
  }

  const Wanted& wanted_;
  diff::DiffContext context_;
  std::optional<Verdict> whole_;    ///< what `diff` says of all steps, once asked
  std::vector<std::string> names_;  ///< of the last step's reference
  std::string only_on_;
  std::size_t steps_seen_ = 0;
};

Numbers numbers_of_both(const diff::MetStep& met) {
  Numbers numbers = numbers_of(met.sides->front().facts);
  numbers.merge(numbers_of(met.sides->back().facts));
  return numbers;
}

std::string choice_of(const Sight& sight, std::size_t steps, std::size_t seen) {
  std::string words;
  if (steps > 1) {
    const int weight = sight.weight();
    words = weight == 3
                ? fmt::format("the first of {} steps in which it is beyond its limit", steps)
            : weight == 2 ? fmt::format("the first of {} steps in which it differs", seen)
                          : fmt::format("the newest of {} steps; it is equal in all", seen);
  }
  if (sight.records < 2 || !sight.result) return words;
  const std::string record = record_words(sight.record, sight.records, sight.result->identity);
  return words.empty() ? record : words + "; " + record;
}

/// The finding of a diverged tensor, explained as `diff` does.
void explain_result(const Sight& sight, const diff::DiffContext& context, Verdict& verdict) {
  const TensorResult& result = verdict.tensors.front();
  if (result.outcome() != Outcome::diverged) return;
  verdict.first = locate::divergence_of(result, std::nullopt, context.candidate.mesh);
  if (result.test == Test::replica) return;
  std::vector<Finding> findings{verdict::divergence_finding(result, context.candidate.mesh)};
  const std::vector<const TensorResult*> results{&result};
  const std::vector<char> first{1};
  diff::explain_findings(*sight.met, results, first, findings, context);
  append(verdict.findings, std::move(findings));
}

/// What lies where inside the pair.
void look_inside(Sight& sight, int top, Verdict& verdict) {
  if (sight.pair.reference == nullptr) return;
  verdict.shown = parts_to_show(*sight.pair.candidate);
  TensorResult& result = verdict.tensors.front();
  if (verdict.shown->dims.empty() && sight.pair.reference->placement) {
    verdict.shown->dims = to_string(*sight.pair.reference->placement);
  }
  try {
    verdict.shown->profile =
        profile_to_show(sight.pair, result.metrics, numbers_of_both(*sight.met), top);
    const std::int64_t worst = worst_index(result.metrics);
    for (const ProfiledElement& one : verdict.shown->profile->elements) {
      if (one.index == worst && !is_complex(result.dtype)) result.values = {one.a[0], one.b[0]};
    }
    if (result.ranks.empty() && result.metrics.unequal_values > 0) {
      result.ranks = compare::by_rank(sight.pair, interrupted);
    }
  } catch (const compare::Stopped&) {
    verdict.findings.push_back(verdict::interruption("the inside of the tensor was not looked at"));
  } catch (const Error& error) {
    verdict::report_unread(*sight.pair.reference, error, result.step, verdict);
  }
}

}  // namespace

Verdict pair(const Run& reference, const Run& candidate, const Wanted& wanted, int top,
             const diff::DiffOptions& how) {
  diff::require_steps(
      std::array{diff::NamedRun{reference, "reference"}, diff::NamedRun{candidate, "candidate"}},
      how.steps);
  Verdict verdict = diff::head_of(reference, candidate);
  Verdict scratch = diff::head_of(reference, candidate);
  const std::vector<StepPair> pairs = diff::pair_steps(reference, candidate, how.steps, scratch);
  PairShow shown(reference, candidate, wanted, how);
  Sight sight = shown.look(pairs, verdict);
  append(verdict.findings, std::move(sight.findings));
  verdict.coverage = sight.coverage;
  for (RunSummary* side : {&*verdict.reference, &*verdict.candidate}) {
    side->tensors = sight.coverage.paired;
    side->bytes = sight.coverage.bytes_compared;
  }
  if (sight.result) {
    verdict.tensors.push_back(*sight.result);
    ++verdict.tally.outcomes[static_cast<std::size_t>(sight.result->outcome())];
    look_inside(sight, top, verdict);
    explain_result(sight, shown.context(), verdict);
    if (!verdict.shown) verdict.shown.emplace();
    verdict.shown->choice = choice_of(sight, pairs.size(), shown.steps_seen());
  }
  append(verdict.findings, reference.close());
  append(verdict.findings, candidate.close());
  verdict.coverage.bytes_read = reference.bytes_read() + candidate.bytes_read();
  verdict::conclude(verdict, "");
  return verdict;
}

}  // namespace ttcheck::show
