#include "core/diff/states.hpp"

#include <algorithm>
#include <string>

#include "core/base/interrupted.hpp"
#include "core/base/parallel.hpp"
#include "core/compare/moved.hpp"
#include "core/compare/pair_values.hpp"
#include "core/limits/relation.hpp"
#include "core/verdict/judge.hpp"

namespace ttcheck::diff {
namespace {

/// Others have limits of their own.
bool is_state(const compare::Pair& pair, const limits::LimitOptions& limits) {
  return !is_exact(pair.reference->dtype) && !is_exact(pair.candidate->dtype) &&
         pair.reference->kind != Kind::step &&
         !limits::elementwise_limit(*pair.reference, *pair.candidate, limits);
}

limits::Stored head_of(const compare::Pair& pair) {
  limits::Stored one;
  one.name = pair.reference->identity.name;
  one.kind = pair.reference->kind;
  one.count = element_count(pair.reference->shape);
  one.bias = pair.reference->shape.size() < 2 && one.name.ends_with("bias");
  one.mapped = pair.mapped();
  one.eps = std::max(epsilon(pair.reference->dtype), epsilon(pair.candidate->dtype));
  return one;
}

std::optional<Moved> sample(const compare::Pair& pair) {
  if (!compare::has_real_values(pair)) return std::nullopt;
  try {
    return compare::moved(pair, interrupted);
  } catch (const Error&) {  // compare::Stopped, too
  }
  return std::nullopt;
}

/// 1, as of a value that is another one, where it cannot be read.
double outlier_of(const compare::Pair& pair, const Metrics& metrics) {
  try {
    return compare::examine(pair, metrics, interrupted).outlier;
  } catch (const Error&) {  // compare::Stopped, too
    return 1;
  }
}

/// Nothing of pairs that tell nothing of a state.
struct Seen {
  std::optional<limits::Stored> stored;
  std::optional<Moved> moved;
};

/// A pair that is NaN or infinite on one side only is wrong whatever the states are to each other.
Seen of_compared(const compare::Pair& pair, const compare::Compared& compared,
                 const limits::LimitOptions& limits) {
  const Metrics& metrics = compared.metrics;
  Seen seen;
  if (!compared.whole()) return seen;
  limits::Stored one = head_of(pair);
  const bool disagrees = metrics.non_finite_disagree > 0;
  one.constant = metrics.reference_constant || disagrees;
  one.equal = disagrees || verdict::equal_under(*pair.reference, *pair.candidate, metrics);
  one.unequal = metrics.unequal_values;
  one.max_rel = metrics.max_rel;
  if (!one.equal) {
    if (!is_state(pair, limits)) return seen;
    seen.moved = sample(pair);
    if (!seen.moved) return seen;
    one.moved = *seen.moved;
  }
  seen.stored = one;
  return seen;
}

Seen of_sample(const compare::Pair& pair, const limits::LimitOptions& limits) {
  Seen seen;
  if (!is_state(pair, limits)) return seen;
  seen.moved = sample(pair);
  if (!seen.moved) return seen;
  limits::Stored one = head_of(pair);
  one.moved = *seen.moved;
  one.equal = one.moved == Moved{};
  one.unequal = one.equal ? 0 : one.count;
  one.max_rel = one.outlier = one.moved.spike;
  seen.stored = one;
  return seen;
}

std::vector<limits::Stored> all_of(std::span<const Seen> seen, const Work& work) {
  std::vector<limits::Stored> all;
  for (const Seen& one : seen) {
    if (one.stored) all.push_back(*one.stored);
  }
  // Equal by manifests, unread; those of them that are constant tell nothing.
  limits::Stored known;
  known.equal = true;
  all.insert(all.end(), work.known_equal, known);
  return all;
}

std::vector<Seen> samples_of(const Work& work, const limits::LimitOptions& limits) {
  std::vector<Seen> seen(work.pairs.size());
  parallel_for(seen.size(), [&](std::size_t i) { seen[i] = of_sample(work.pairs[i], limits); });
  return seen;
}

}  // namespace

States relate_states(const Work& work, std::span<const compare::Compared> compared,
                     const Work& beside, const limits::LimitOptions& limits_of) {
  std::vector<Seen> seen(work.pairs.size());
  parallel_for(seen.size(), [&](std::size_t i) {
    seen[i] = of_compared(work.pairs[i], compared[i], limits_of);
  });
  if (limits::asks_outliers(all_of(seen, work))) {
    for (std::size_t i = 0; i < seen.size(); ++i) {
      auto& one = seen[i].stored;
      if (one && !one->equal) one->outlier = outlier_of(work.pairs[i], compared[i].metrics);
    }
  }
  std::vector<limits::Stored> all = all_of(seen, work);
  const bool differs = std::ranges::any_of(all, [](const auto& one) { return !one.equal; });
  States states;
  if (differs) {
    const std::vector<Seen> others = samples_of(beside, limits_of);
    for (const Seen& one : others) {
      if (one.stored) all.push_back(*one.stored);
    }
  }
  states.relation = limits::relate(all);
  const auto limits = limits::state_limits(all, states.relation);
  Limit exact;
  exact.source = "exact: could not be sampled";
  states.limits.assign(seen.size(), exact);
  states.moved.resize(seen.size());
  for (std::size_t i = 0, n = 0; i < seen.size(); ++i) {
    states.moved[i] = seen[i].moved;
    if (seen[i].stored) states.limits[i] = limits[n++];
  }
  return states;
}

}  // namespace ttcheck::diff
