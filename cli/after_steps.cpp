#include "cli/after_steps.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/interrupt.hpp"

namespace ttcheck::cli {
namespace {

/// Of two traces, the steps that --step leaves out in front of the first that it admits.
std::vector<StepPair> steps_before(const DiffContext& context) {
  if (!context.options.steps || !context.reference.trace || !context.candidate.trace) return {};
  Verdict unused;
  Options all = context.options;
  const auto chosen = pair_steps(context.reference, context.candidate, all, unused);
  all.steps.reset();
  auto pairs = pair_steps(context.reference, context.candidate, all, unused);
  const auto first = std::ranges::find_if(pairs, [&](const StepPair& pair) {
    return chosen.empty() || pair.reference == chosen.front().reference;
  });
  pairs.erase(first, pairs.end());
  return pairs;
}

}  // namespace

Verdict judge_after_steps(const DiffContext& context,
                          const std::function<Verdict(ApartLeft)>& judge) {
  const std::vector<StepPair> before = steps_before(context);
  if (before.empty()) return judge({});
  DiffContext last = context;
  Verdict verdict = judge(parameters_left_by(before.back(), last));
  if (verdict.outcome != Outcome::diverged || interrupted() != 0) return verdict;
  ApartLeft left = apart_left_by_all(before, context);
  if (left.carried.empty() && !is_bad_by_little(verdict)) return verdict;
  return judge(std::move(left));
}

}  // namespace ttcheck::cli
