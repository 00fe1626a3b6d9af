// SPDX-License-Identifier: Apache-2.0
#include "core/diff/judge_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "core/base/interrupted.hpp"
#include "core/base/parallel.hpp"
#include "core/compare/sentinel.hpp"
#include "core/diff/compared_once.hpp"
#include "core/diff/judge_other_ways.hpp"
#include "core/diff/judge_replicas.hpp"
#include "core/diff/judge_without_bytes.hpp"
#include "core/diff/limits_context.hpp"
#include "core/diff/same_layers.hpp"
#include "core/diff/states.hpp"
#include "core/diff/undeclared.hpp"
#include "core/limits/limits.hpp"
#include "core/verdict/judge.hpp"
#include "core/verdict/tally.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::diff {
namespace {

constexpr std::size_t kPairBlock = 4096;  // pairs whose results are held at once
constexpr std::size_t kSlice = 256;       // pairs that a thread counts at a time
constexpr std::int64_t kLarge = 1 << 20;  // elements from which one pair is worth all threads

bool leaves_out(const Tensor& tensor) { return tensor.trace && tensor.trace->left_out > 0; }

/// Finds what hides the rest under this limit, unless it is known that nothing does.
std::optional<Sentinel> sentinel_of(const compare::Pair& pair, const Metrics& metrics,
                                    const Limit& limit, SecondLook& look) {
  if (!verdict::may_hide(*pair.reference, metrics, limit)) return std::nullopt;
  if (limit.rel <= look.free_of_sentinel) return std::nullopt;
  auto sentinel = compare::find_sentinel(pair, metrics, limit.rel, interrupted);
  if (!sentinel) look.free_of_sentinel = limit.rel;
  return sentinel;
}

/// Nothing when a signal or an unreadable part cut a pass short and what was read does not decide.
std::optional<TensorResult> result_of(const compare::Pair& pair, const compare::Compared& compared,
                                      const Limit& limit, const std::optional<Moved>& moved,
                                      const DiffOptions& how, SecondLook& look) {
  verdict::Closer closer;
  closer.moved = moved;
  const Metrics& metrics = compared.metrics;
  bool cut = !compared.whole();
  if (cut && !verdict::part_decides(metrics, limit)) return std::nullopt;
  if (!cut) {
    try {
      if (how.seek_sentinels) closer.sentinel = sentinel_of(pair, metrics, limit, look);
      const bool needed = verdict::needs_detail(*pair.reference, metrics, limit, moved) ||
                          (closer.sentinel && verdict::beyond(*closer.sentinel, limit));
      if (needed || (how.every_detail && metrics.unequal_values > 0)) {
        if (!look.detail) look.detail = compare::examine(pair, metrics, interrupted);
        closer.detail = look.detail;
      }
      if (needed) {
        if (!look.ranks) look.ranks = compare::by_rank(pair, interrupted);
        closer.ranks = *look.ranks;
      }
    } catch (const compare::Stopped&) {
      cut = true;
    } catch (const Error&) {  // read well in the first pass: its metrics stand
      closer.ranks.clear();
    }
  }
  std::optional<TensorResult> result(
      std::in_place,
      verdict::judge(*pair.reference, *pair.candidate, metrics, limit, std::move(closer)));
  if (cut && result->outcome() != Outcome::diverged) return std::nullopt;
  return result;
}

/// Keeps, of several steps, the relation that says most of how far the runs are apart.
void keep_relation(const Relation& relation, Verdict& verdict) {
  constexpr std::array kRank = {0, 1, 3, 2};  // by RelationKind
  const auto rank = [&](const Relation& one) {
    return kRank.at(static_cast<std::size_t>(one.kind));
  };
  if (!verdict.relation || rank(relation) > rank(*verdict.relation)) verdict.relation = relation;
}

/// All pairs after the first pass, judged in blocks so that results are never held for all at once.
class Judging {
 public:
  Judging(const Work& work, std::span<const compare::Compared> compared,
          const limits::LimitContext& limits, const std::optional<States>& states, bool trace,
          const StepPair& steps, DiffContext& context, Verdict& verdict)
      : work_(work),
        compared_(compared),
        limits_(limits),
        states_(states),
        keep_equal_(trace || context.how.keep_equal),  // equal inputs clear an op
        steps_(steps),
        context_(context),
        verdict_(verdict) {
    limits_.apart = context.memory.noise.apart;
    if (context.once != nullptr) looks_ = context.once->second_looks(work, steps);
  }

  /// Whether a pair is beyond its limit by what was read, whatever a second pass would find: that
  /// can only add to it.
  bool shows_divergence() const {
    for (std::size_t i = 0; i < work_.pairs.size(); ++i) {
      const compare::Pair& pair = work_.pairs[i];
      if (!compared_[i].whole() || compared_[i].metrics.unequal_values == 0) continue;
      verdict::Closer closer;
      closer.moved = states_ ? states_->moved_of(i) : std::nullopt;
      const TensorResult result = verdict::judge(*pair.reference, *pair.candidate,
                                                 compared_[i].metrics, limit_of(i), closer);
      if (result.outcome() == Outcome::diverged) return true;
    }
    return false;
  }

  /// The number of pairs of which too little is known.
  std::int64_t run() {
    std::int64_t left = 0;
    for (std::size_t begin = 0; begin < work_.pairs.size(); begin += kPairBlock) {
      left += judge_block(begin, std::min(begin + kPairBlock, work_.pairs.size()));
    }
    return left;
  }

 private:
  /// Most pairs are equal and counted at once, many by one thread; the others are judged and added
  /// in their order.
  int judge_block(std::size_t begin, std::size_t end) {
    std::vector<char> counted(end - begin);  // from several threads
    std::vector<Tally> tallies((counted.size() + kSlice - 1) / kSlice);
    parallel_for(tallies.size(), [&](std::size_t slice) {
      const std::size_t first = begin + slice * kSlice;
      for (std::size_t i = first; i < std::min(first + kSlice, end); ++i) {
        counted[i - begin] = count_if_equal(i, tallies[slice]) ? 1 : 0;
      }
    });
    for (const Tally& tally : tallies) verdict::add_tally(tally, verdict_.tally);
    std::vector<std::size_t> others;
    for (std::size_t i = begin; i < end; ++i) {
      if (counted[i - begin] == 0) {
        others.push_back(i);
      } else {
        cover(i);
      }
    }
    std::vector<std::optional<TensorResult>> results = judge_each(others);
    int left = 0;
    for (std::size_t n = 0; n < others.size(); ++n) left += add(others[n], std::move(results[n]));
    return left;
  }

  /// A pair may need a second pass: small ones are judged side by side, large ones one by one,
  /// since each uses all threads.
  std::vector<std::optional<TensorResult>> judge_each(std::span<const std::size_t> pairs) const {
    std::vector<std::optional<TensorResult>> results(pairs.size());
    const auto judge = [&](std::size_t n) {
      const std::size_t i = pairs[n];
      SecondLook own;
      SecondLook& look = looks_.empty() || looks_[i] == nullptr ? own : *looks_[i];
      if (states_ && !look.detail) look.detail = states_->detail_of(i);
      const std::optional<Moved> moved = states_ ? states_->moved_of(i) : std::nullopt;
      results[n] = result_of(work_.pairs[i], compared_[i], limit_of(i), moved, context_.how, look);
    };
    std::vector<std::size_t> small, large;
    for (std::size_t n = 0; n < pairs.size(); ++n) {
      (compared_[pairs[n]].metrics.count >= kLarge ? large : small).push_back(n);
    }
    parallel_for(small.size(), [&](std::size_t n) { judge(small[n]); });
    for (const std::size_t n : large) judge(n);
    return results;
  }

  Limit limit_of(std::size_t i) const {
    const compare::Pair& pair = work_.pairs[i];
    const Limit* const state = states_ ? states_->limit_of(i) : nullptr;
    return limits::limit_for(*pair.reference, *pair.candidate, limits_, context_.limits(), state);
  }

  /// True for a pair that is equal and of which no row is wanted.
  bool count_if_equal(std::size_t i, Tally& tally) const {
    const compare::Pair& pair = work_.pairs[i];
    if (keep_equal_ || !compared_[i].plain() || !seen_by(pair).empty()) return false;
    const auto cast = verdict::equal_under(*pair.reference, *pair.candidate, compared_[i].metrics);
    if (!cast) return false;
    verdict::count_equal(*cast, limit_of(i).words(), *work_.rules[i], steps_.step, tally);
    return true;
  }

  void cover(std::size_t i) {
    ++verdict_.coverage.paired;
    verdict_.coverage.bytes_compared += logical_bytes(*work_.pairs[i].reference);
    const Metrics& metrics = compared_[i].metrics;
    if (metrics.reference.nan > 0 && metrics.non_finite_disagree == 0) ++verdict_.tally.with_nan;
  }

  /// Adds a pair to the verdict; 1 if too little is known of it for reasons other than its bytes.
  int add(std::size_t i, std::optional<TensorResult>&& result) {
    const compare::Pair& pair = work_.pairs[i];
    const compare::Compared& compared = compared_[i];
    if (compared.error) {
      verdict::report_unread(*pair.reference, *compared.error, steps_.step, verdict_);
    } else if (!result) {
      return 1;
    } else {
      cover(i);
    }
    if (!result) return 0;
    if (!compared.error) {  // else: what could be read shows a divergence
      judge_replicas(pair, compared, steps_, context_, *result, verdict_);
    }
    if (leaves_out(*pair.reference) || leaves_out(*pair.candidate)) {
      judge_left_out(*pair.reference, *pair.candidate, *result);
    }
    if (const std::string by(seen_by(pair)); !by.empty() && result->outcome() == Outcome::equal) {
      result->cast += result->cast.empty() ? by : " after " + by;
    }
    result->step = steps_.step;
    result->rule = *work_.rules[i];
    result->pair = work_.places[i];
    verdict::add_result(std::move(*result), keep_equal_, verdict_);
    return 0;
  }

  const Work& work_;
  std::span<const compare::Compared> compared_;
  limits::LimitContext limits_;
  const std::optional<States>& states_;
  bool keep_equal_;
  const StepPair& steps_;
  DiffContext& context_;
  Verdict& verdict_;
  std::vector<SecondLook*> looks_;  ///< by pair, null where nothing is kept; or empty
};

}  // namespace

void judge_compared(Work& work, std::vector<compare::Compared> compared, bool trace,
                    const StepPair& steps, DiffContext& context, Verdict& verdict,
                    const Work& beside) {
  if (!trace && context.memory.first_step) {
    append(verdict.findings, same_layers(work.pairs, compared, steps.step));
  }
  const Otherwise otherwise = compare_otherwise(work, compared, context.how);
  if (otherwise.parts > 0) {
    verdict.findings.push_back(parts_note(otherwise.parts, steps.step));
  }
  if (otherwise.sums > 0) {
    verdict.findings.push_back(addends_note(otherwise.sums, steps.step));
  }
  if (verdict.tensors.empty())
    verdict.tensors.reserve(work.pairs.size());  // growing holds it twice
  limits::LimitContext limits = work.context ? *work.context : context_of(work, beside);
  limits.trace = trace;
  std::optional<States> states;
  if (!trace && limits::tells_states(context.limits())) {
    states = relate_states(work, compared, beside, steps, context);
    keep_relation(states->relation, verdict);
  }
  Judging judging(work, compared, limits, states, trace, steps, context, verdict);
  const bool may_stop = context.how.until_bad && !trace && !context.memory.first_step;
  if (may_stop && context.told.precondition.empty() && judging.shows_divergence()) {
    context.told.bad = true;
    return;
  }
  const std::int64_t left = judging.run();
  if (left == 0) return;
  context.told.cut_short = true;
  verdict.coverage.unreadable += left;
  verdict.findings.push_back(verdict::interruption(
      fmt::format("{} of {} tensors were not compared whole", left, work.pairs.size())));
  verdict.findings.back().step = steps.step;
}

void judge_all(Work& work, bool trace, const StepPair& steps, DiffContext& context,
               Verdict& verdict, const Work& beside) {
  const bool sample = !trace && limits::tells_states(context.limits());
  judge_compared(work, compare_work(work, steps, sample, context), trace, steps, context, verdict,
                 beside);
}

}  // namespace ttcheck::diff
