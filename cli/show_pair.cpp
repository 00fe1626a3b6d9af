// Whether two checkpoints are copies of each other, and so which limit holds, depends on all of
// their tensors: these are read, too, unless the limit is the same either way. What gradients that
// are noise have moved (cli/noise_updates) depends on a tensor's other records and its bias: these
// are judged beside it.

#include "cli/show_pair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "cli/comparing.hpp"
#include "cli/diff.hpp"
#include "cli/explaining.hpp"
#include "cli/interrupt.hpp"
#include "cli/judging.hpp"
#include "cli/leftovers.hpp"
#include "cli/meet_step.hpp"
#include "cli/show_name.hpp"
#include "cli/show_one.hpp"
#include "cli/show_parts.hpp"
#include "cli/side.hpp"
#include "cli/steps.hpp"
#include "core/base/parallel.hpp"
#include "core/limits/limits.hpp"
#include "core/locate/first.hpp"
#include "core/verdict/conclude.hpp"
#include "core/verdict/coverage.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::cli {
namespace {

/// Bytes of a step's records on both sides, from which on `show` does not read what `diff` would.
constexpr std::uint64_t kMostEvidence = std::uint64_t{4} << 30;

/// The tensor in one step, judged.
struct Sight {
  std::unique_ptr<MetStep> met;
  StepPair steps;
  std::optional<TensorResult> result;  ///< none where it could not be judged
  compare::Pair pair;                  ///< no tensors where its bytes were not compared
  std::vector<Finding> findings;       ///< about it
  Coverage coverage;
  std::size_t record = 0, records = 0;
  bool cut_short = false;

  /// 3: beyond its limit, or not to be compared; 2: it differs; 1: equal.
  int weight() const {
    if (!result || result->outcome == Outcome::diverged) return 3;
    return result->outcome == Outcome::equal ? 1 : 2;
  }
};

/// Keeps the place of the first sight of the greatest weight, or of the last where all are equal.
bool better(const Sight& now, const std::optional<Sight>& best) {
  if (!best) return true;
  return now.weight() > best->weight() || (now.weight() == 1 && best->weight() == 1);
}

class PairShow {
 public:
  PairShow(const Run& reference, const Run& candidate, const Options& options,
           const align::AlignOptions& align)
      : options_(options),
        wanted_(options),
        context_{reference, candidate, options_, align, {}, {}, {}, {}} {
    options_.all = true;  // equal pairs have a result, too
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
  const DiffContext& context() const { return context_; }

 private:
  std::optional<Sight> see(const StepPair& steps, Verdict& verdict) {
    Verdict scratch = head_of(context_.reference, context_.candidate, options_);
    auto met = meet_step(steps, context_, scratch);
    if (!met) {
      append(verdict.findings, std::move(scratch.findings));
      return std::nullopt;
    }
    const auto chosen = pairs_of(*met);
    if (chosen.empty()) return std::nullopt;
    judge(*met, chosen, steps, scratch);
    if (met->trace) judge_as_diff(*met, chosen, scratch);
    return sight_of(std::move(*met), chosen, steps, scratch);
  }

  /// The reference's name of the tensor that is meant; it is noted why where there is none.
  std::optional<std::string> name_in(const MetStep& met) {
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
  std::vector<std::size_t> pairs_of(const MetStep& met) {
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

  const Tensor& reference_of(const MetStep& met, std::size_t pair) const {
    return met.sides->at(0).assembly.tensors[met.alignment.pairs[pair].reference];
  }

  /// The chosen pairs whose bytes can be compared, and what their verdict may depend on.
  Work work_of(const MetStep& met, std::span<const std::size_t> chosen) const {
    std::set<std::string> names;
    for (const std::size_t pair : chosen) {
      const Identity& identity = reference_of(met, pair).identity;
      names.insert(identity.name);
    }
    Work some;
    std::map<std::size_t, std::size_t> place;  // in `some`, by place in all
    for (std::size_t i = 0; i < met.work.pairs.size(); ++i) {
      if (!names.contains(met.work.pairs[i].reference->identity.name)) continue;
      place.emplace(i, some.pairs.size());
      some.pairs.push_back(met.work.pairs[i]);
      some.rules.push_back(met.work.rules[i]);
    }
    for (const Alternative& alternative : met.work.alternatives) {
      const auto found = place.find(alternative.pair);
      if (found == place.end()) continue;
      some.alternatives.push_back({found->second, alternative.other, alternative.parts});
    }
    return some;
  }

  /// What `diff` would know of all pairs, told with as little reading as the limits allow.
  limits::LimitContext limits_context(MetStep& met, const Work& some) const {
    limits::LimitContext context = met.work.known;
    for (const compare::Pair& pair : met.work.pairs) {
      limits::observe(context, *pair.reference);
      limits::observe(context, *pair.candidate);
    }
    context.trace = met.trace;
    const auto kind = [&](const compare::Pair& pair, bool copies) {
      limits::LimitContext so = context;
      so.copies = copies;
      return limits::limit_for(*pair.reference, *pair.candidate, so, options_.limits).kind;
    };
    const bool told = std::ranges::all_of(some.pairs, [&](const compare::Pair& pair) {
      return kind(pair, false) == kind(pair, true);
    });
    if (told) return context;
    std::vector<compare::Compared> compared = compare_all(met.work.pairs, options_);
    compare_otherwise(met.work, compared, options_);
    return context_of(met.work, compared, met.trace);
  }

  void judge(MetStep& met, std::span<const std::size_t> chosen, const StepPair& steps,
             Verdict& scratch) {
    Work some = work_of(met, chosen);
    pairs_.clear();
    if (some.pairs.empty()) return;
    some.context = limits_context(met, some);
    judge_all(some, met.trace, steps, context_, scratch);
    for (const compare::Pair& pair : some.pairs) pairs_[pair.reference] = pair;
  }

  /// Of records that differ, what `diff` says of them: that rests on all others, of earlier steps,
  /// too. Where those are many, the records stand alone, and a finding says so.
  void judge_as_diff(const MetStep& met, std::span<const std::size_t> chosen, Verdict& scratch) {
    std::vector<TensorResult*> results;
    for (TensorResult& one : scratch.tensors) {
      const bool own = std::ranges::any_of(chosen, [&](std::size_t pair) {
        return reference_of(met, pair).identity == one.identity;
      });
      if (own && one.outcome != Outcome::equal) results.push_back(&one);
    }
    if (results.empty()) return;
    std::uint64_t bytes = 0;
    for (const compare::Pair& pair : met.work.pairs) bytes += 2 * logical_bytes(*pair.reference);
    if (bytes > kMostEvidence) {
      Finding note = verdict::note(
          Code::unmeasured_noise, met.step,
          fmt::format("judged by its own records alone: diff also reads the others of the step, "
                      "{} MiB, which may show that it is chance, or wrong within its limit",
                      bytes >> 20U));
      note.tensor = results.front()->identity.name;
      scratch.findings.push_back(std::move(note));
      return;
    }
    if (!whole_) {
      Options how = options_;
      if (how.steps) how.steps->first.reset();  // what they left counts
      whole_ = diff(context_.reference, context_.candidate, how, context_.align);
    }
    for (TensorResult* const result : results) {
      const auto found = std::ranges::find_if(whole_->tensors, [&](const TensorResult& one) {
        return one.step == result->step && one.identity == result->identity;
      });
      if (found != whole_->tensors.end()) *result = *found;
    }
  }

  /// The worst record of the step.
  Sight sight_of(MetStep&& met, std::span<const std::size_t> chosen, const StepPair& steps,
                 Verdict& scratch) {
    Sight sight;
    sight.met = std::make_unique<MetStep>(std::move(met));
    sight.steps = steps;
    sight.records = chosen.size();
    const auto result_at = [&](std::size_t pair) -> const TensorResult* {
      const Identity& identity = reference_of(*sight.met, pair).identity;
      const auto found = std::ranges::find(scratch.tensors, identity, &TensorResult::identity);
      return found == scratch.tensors.end() ? nullptr : &*found;
    };
    int weight = 0;
    for (std::size_t n = 0; n < chosen.size(); ++n) {
      const TensorResult* result = result_at(chosen[n]);
      const int own = result == nullptr                      ? 1
                      : result->outcome == Outcome::diverged ? 3
                      : result->outcome == Outcome::equal    ? 0
                                                             : 2;
      if (n > 0 && own <= weight) continue;
      weight = own;
      sight.record = n;
      sight.result.reset();
      if (result != nullptr) sight.result = *result;
    }
    const Tensor& reference = reference_of(*sight.met, chosen[sight.record]);
    const auto pair = pairs_.find(&reference);
    if (pair != pairs_.end()) sight.pair = pair->second;
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
    sight.cut_short = context_.cut_short;
  }

  Options options_;
  WantedTensor wanted_;
  DiffContext context_;
  std::map<const Tensor*, compare::Pair> pairs_;  ///< as they were compared
  std::optional<Verdict> whole_;                  ///< what `diff` says of all steps, once asked
  std::vector<std::string> names_;                ///< of the last step's reference
  std::string only_on_;
  std::size_t steps_seen_ = 0;
};

Numbers numbers_of_both(const MetStep& met) {
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
void explain_result(const Sight& sight, const DiffContext& context, Verdict& verdict) {
  const TensorResult& result = verdict.tensors.front();
  if (result.outcome != Outcome::diverged) return;
  verdict.first = locate::divergence_of(result, std::nullopt, context.candidate.mesh);
  if (result.test == "replica") return;
  std::vector<Finding> findings{verdict::divergence_finding(result, context.candidate.mesh)};
  const std::vector<const TensorResult*> results{&result};
  const std::vector<char> first{1};
  explain_findings(*sight.met, results, first, findings, context);
  append(verdict.findings, std::move(findings));
}

/// What lies where inside the pair.
void look_inside(Sight& sight, const Options& options, Verdict& verdict) {
  if (sight.pair.reference == nullptr) return;
  verdict.shown = parts_to_show(*sight.pair.candidate);
  TensorResult& result = verdict.tensors.front();
  if (verdict.shown->dims.empty() && sight.pair.reference->placement) {
    verdict.shown->dims = to_string(*sight.pair.reference->placement);
  }
  try {
    verdict.shown->profile =
        profile_to_show(sight.pair, result.metrics, numbers_of_both(*sight.met), options.top);
    if (result.ranks.empty() && result.metrics.unequal_values > 0) {
      result.ranks = compare::by_rank(sight.pair, interrupted);
    }
  } catch (const compare::Stopped&) {
    verdict.findings.push_back(interruption("the inside of the tensor was not looked at"));
  } catch (const Error& error) {
    report_unread(*sight.pair.reference, error, result.step, verdict);
  }
}

}  // namespace

Verdict show_pair(const Options& options) {
  set_threads(options.threads);
  const align::AlignOptions align = align_options(options);
  Options sides_of = options;
  sides_of.words = {options.words.at(0), options.words.at(2)};
  const std::array<Run, 2> sides = open_both(sides_of);
  const auto& [reference, candidate] = sides;
  Verdict verdict = head_of(reference, candidate, options);
  Verdict scratch = head_of(reference, candidate, options);
  const std::vector<StepPair> pairs = pair_steps(reference, candidate, options, scratch);
  PairShow show(reference, candidate, options, align);
  Sight sight = show.look(pairs, verdict);
  append(verdict.findings, std::move(sight.findings));
  verdict.coverage = sight.coverage;
  for (RunSummary* side : {&*verdict.reference, &*verdict.candidate}) {
    side->tensors = sight.coverage.paired;
    side->bytes = sight.coverage.bytes_compared;
  }
  if (sight.result) {
    verdict.tensors.push_back(*sight.result);
    ++verdict.tally.outcomes[static_cast<std::size_t>(sight.result->outcome)];
    look_inside(sight, options, verdict);
    explain_result(sight, show.context(), verdict);
    if (!verdict.shown) verdict.shown.emplace();
    verdict.shown->choice = choice_of(sight, pairs.size(), show.steps_seen());
  }
  append(verdict.findings, reference.close());
  append(verdict.findings, candidate.close());
  verdict.coverage.bytes_read = reference.bytes_read() + candidate.bytes_read();
  verdict::conclude(verdict, "");
  return verdict;
}

}  // namespace ttcheck::cli
