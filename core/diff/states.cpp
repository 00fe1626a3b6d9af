#include "core/diff/states.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/base/interrupted.hpp"
#include "core/base/parallel.hpp"
#include "core/compare/moved.hpp"
#include "core/compare/pair_values.hpp"
#include "core/compare/way.hpp"
#include "core/diff/ancestor.hpp"
#include "core/limits/relation.hpp"
#include "core/limits/state_limits.hpp"
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
  one.disagrees = disagrees;
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

std::optional<WaySince> way_since(const compare::Pair& pair, const Tensor& base) {
  try {
    return compare::way(pair, base, interrupted);
  } catch (const Error&) {  // compare::Stopped, too
  }
  return std::nullopt;
}

/// With the outliers that they are asked for.
std::vector<Seen> seen_in(const Work& work, std::span<const compare::Compared> compared,
                          const limits::LimitOptions& limits) {
  std::vector<Seen> seen(work.pairs.size());
  parallel_for(seen.size(),
               [&](std::size_t i) { seen[i] = of_compared(work.pairs[i], compared[i], limits); });
  if (!limits::asks_outliers(all_of(seen, work), limits::cuts_of(limits.file.get()))) return seen;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    auto& one = seen[i].stored;
    if (one && !one->equal) one->outlier = outlier_of(work.pairs[i], compared[i].metrics);
  }
  return seen;
}

std::vector<Seen> samples_of(const Work& work, const limits::LimitOptions& limits) {
  std::vector<Seen> seen(work.pairs.size());
  parallel_for(seen.size(), [&](std::size_t i) { seen[i] = of_sample(work.pairs[i], limits); });
  return seen;
}

/// What `relate` is asked again where an ancestor may tell more.
class Asked {
 public:
  Asked(std::vector<Seen> seen, const Work& work, std::vector<limits::Stored> others,
        const limits::Cuts& cuts)
      : seen_(std::move(seen)), work_(work), others_(std::move(others)), cuts_(cuts) {}

  std::vector<limits::Stored> all() const {
    std::vector<limits::Stored> all = all_of(seen_, work_);
    all.insert(all.end(), others_.begin(), others_.end());
    return all;
  }

  bool differs() const {
    return std::ranges::any_of(all(), [](const auto& one) { return !one.equal; });
  }

  Relation relation() const { return limits::relate(all(), cuts_, base_); }

  void set_out_from(const Ancestor& ancestor) {
    base_ = ancestor.name;
    parallel_for(seen_.size(), [&](std::size_t i) {
      auto& one = seen_[i].stored;
      if (!one || one->equal || ancestor.by_pair[i] == nullptr) return;
      one->way = way_since(work_.pairs[i], *ancestor.by_pair[i]);
    });
  }

  States states(Relation relation) const {
    States states;
    const auto limits = limits::state_limits(all(), relation, cuts_);
    states.relation = std::move(relation);
    Limit exact;
    exact.source = "exact: could not be sampled";
    states.limits.assign(seen_.size(), exact);
    states.moved.resize(seen_.size());
    for (std::size_t i = 0, n = 0; i < seen_.size(); ++i) {
      states.moved[i] = seen_[i].moved;
      if (seen_[i].stored) states.limits[i] = limits[n++];
    }
    return states;
  }

 private:
  std::vector<Seen> seen_;
  const Work& work_;
  std::vector<limits::Stored> others_;
  limits::Cuts cuts_;
  std::string base_;
};

/// Whether both runs have one state there, as far as a sample shows.
bool agree(const std::array<Ancestor, 2>& before, const limits::LimitOptions& limits) {
  const auto& [a, b] = before;
  std::vector<limits::Stored> sampled;
  for (std::size_t i = 0; i < a.by_pair.size(); ++i) {
    if (a.by_pair[i] == nullptr || b.by_pair[i] == nullptr) continue;
    const Seen seen = of_sample({a.by_pair[i], b.by_pair[i]}, limits);
    if (seen.stored) sampled.push_back(*seen.stored);
  }
  if (sampled.empty()) return false;
  const RelationKind kind = limits::relate(sampled).kind;
  return kind == RelationKind::copies || kind == RelationKind::same_training;
}

}  // namespace

States relate_states(const Work& work, std::span<const compare::Compared> compared,
                     const Work& beside, const StepPair& steps, const DiffContext& context) {
  const limits::Cuts cuts = limits::cuts_of(context.limits().file.get());
  std::vector<Seen> seen = seen_in(work, compared, context.limits());
  std::vector<limits::Stored> others;
  if (std::ranges::any_of(all_of(seen, work), [](const auto& one) { return !one.equal; })) {
    for (const Seen& one : samples_of(beside, context.limits())) {
      if (one.stored) others.push_back(*one.stored);
    }
  }
  Asked asked(std::move(seen), work, std::move(others), cuts);
  if (context.how.base && asked.differs()) {
    asked.set_out_from(named_ancestor(work, steps, context));
  }
  Relation relation = asked.relation();
  if (relation.kind == RelationKind::undecided && !context.how.base) {
    const auto before = step_before(work, steps, context);
    if (before && agree(*before, context.limits())) {
      asked.set_out_from(before->front());
      relation = asked.relation();
    }
  }
  return asked.states(std::move(relation));
}

}  // namespace ttcheck::diff
