// SPDX-License-Identifier: Apache-2.0
#include "core/diff/states.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/interrupted.hpp"
#include "core/base/parallel.hpp"
#include "core/compare/moved.hpp"
#include "core/compare/one_bit.hpp"
#include "core/compare/pair_values.hpp"
#include "core/compare/way.hpp"
#include "core/diff/ancestor.hpp"
#include "core/diff/compared_once.hpp"
#include "core/diff/counted_updates.hpp"
#include "core/diff/round_off_gradients.hpp"
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

/// Means and sums of gradients under names that no kind has (`square_avg`, `row_var`, `sum`) are as
/// their squares are.
Kind kind_of(const Tensor& tensor) {
  constexpr auto kMeans = std::to_array<std::string_view>({"avg", "sq", "sum", "var"});
  const std::string_view name = tensor.identity.name;
  const std::size_t at = name.find('@');
  if (tensor.kind != Kind::other || at == std::string_view::npos) return tensor.kind;
  const std::string_view suffix = name.substr(at);
  const bool mean = std::ranges::any_of(
      kMeans, [&](std::string_view word) { return suffix.find(word) != suffix.npos; });
  return mean ? Kind::moment2 : tensor.kind;
}

limits::Stored head_of(const compare::Pair& pair) {
  limits::Stored one;
  one.name = pair.reference->identity.name;
  one.kind = kind_of(*pair.reference);
  one.count = element_count(pair.reference->shape);
  one.bias = pair.reference->shape.size() < 2 && one.name.ends_with("bias");
  one.mapped = pair.mapped();
  one.eps = std::max(epsilon(pair.reference->dtype), epsilon(pair.candidate->dtype));
  return one;
}

std::optional<compare::Sampled> sample_of(const compare::Pair& pair) {
  if (!compare::has_real_values(pair)) return std::nullopt;
  try {
    return compare::sampled(pair, interrupted);
  } catch (const Error&) {  // compare::Stopped, too
  }
  return std::nullopt;
}

/// `look` keeps what was found; null: nothing does.
std::optional<compare::Sampled> sample_of(const compare::Pair& pair,
                                          const compare::Compared& compared, SecondLook* look) {
  if (compared.sample) return *compared.sample;
  if (look != nullptr && look->sample) return look->sample;
  const auto sample = sample_of(pair);
  if (look != nullptr) look->sample = sample;
  return sample;
}

/// Nothing of pairs that tell nothing of a state.
struct Seen {
  std::optional<limits::Stored> stored;
  std::optional<Moved> moved;
  std::unique_ptr<const Detail> detail;
};

/// What cannot be read is as a value that is another one. REQUIRES seen.stored.
void look_at_elements(const compare::Pair& pair, const Metrics& metrics, SecondLook* look,
                      Seen& seen) {
  limits::Stored& one = *seen.stored;
  try {
    const bool known = look != nullptr && look->detail;
    seen.detail = std::make_unique<Detail>(known ? *look->detail
                                                 : compare::examine(pair, metrics, interrupted));
    if (look != nullptr) look->detail = *seen.detail;
    one.outlier = seen.detail->outlier;
    const auto& units = seen.detail->ulp_quantiles;
    if (units.empty()) return;
    one.units = std::min(one.units, static_cast<double>(units.back().second));
  } catch (const Error&) {  // compare::Stopped, too
    one.outlier = 1;
  }
}

std::vector<std::pair<std::size_t, Detail>> details_of(std::span<const Seen> seen) {
  std::vector<std::pair<std::size_t, Detail>> details;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].detail) details.emplace_back(i, *seen[i].detail);
  }
  return details;
}

/// NaN or infinite on one side only it is wrong whatever the states are to each other.
void set_disagreeing(limits::Stored& one) { one.disagrees = one.constant = one.equal = true; }

Seen of_compared(const compare::Pair& pair, const compare::Compared& compared,
                 const limits::LimitOptions& limits, SecondLook* look) {
  const Metrics& metrics = compared.metrics;
  Seen seen;
  if (!compared.whole()) return seen;
  limits::Stored one = head_of(pair);
  one.constant = metrics.reference_constant;
  one.equal = verdict::equal_under(*pair.reference, *pair.candidate, metrics).has_value();
  if (metrics.non_finite_disagree > 0) set_disagreeing(one);
  one.unequal = metrics.unequal_values;
  one.units = metrics.max_rel / one.eps;
  one.most_apart = metrics.max_abs;
  one.rms_apart =
      std::sqrt(metrics.sum_d2 / static_cast<double>(std::max<std::int64_t>(one.count, 1)));
  if (metrics.reference_rms() > 0) one.largest = metrics.max_abs / metrics.reference_rms();
  if (!one.equal) {
    if (!is_state(pair, limits)) return seen;
    const auto some = sample_of(pair, compared, look);
    if (!some) return seen;
    seen.moved = one.moved = some->moved;
  }
  seen.stored = one;
  return seen;
}

Seen of_sample(const compare::Pair& pair, const limits::LimitOptions& limits) {
  Seen seen;
  if (!is_state(pair, limits)) return seen;
  const auto some = sample_of(pair);
  if (!some) return seen;
  limits::Stored one = head_of(pair);
  seen.moved = one.moved = some->moved;
  one.constant = some->constant;
  one.equal = one.moved == Moved{};
  if (some->disagrees) set_disagreeing(one);
  one.unequal = one.equal ? 0 : one.count;
  one.outlier = one.largest = one.moved.spike;
  one.units = one.largest / one.eps;
  seen.stored = one;
  return seen;
}

/// What is known of a tensor that is equal, unread.
limits::Stored equal_one() {
  limits::Stored known;
  known.equal = true;
  return known;
}

std::vector<limits::Stored> all_of(std::span<const Seen> seen, const Work& work) {
  std::vector<limits::Stored> all;
  for (const Seen& one : seen) {
    if (one.stored) all.push_back(*one.stored);
  }
  // Equal by manifests, unread; those of them that are constant tell nothing.
  all.insert(all.end(), work.known_equal, equal_one());
  return all;
}

std::optional<WaySince> way_since(const compare::Pair& pair, const Tensor& base) {
  try {
    return compare::way(pair, base, interrupted);
  } catch (const Error&) {  // compare::Stopped, too
  }
  return std::nullopt;
}

void look_at_bits(const compare::Pair& pair, const Metrics& metrics, limits::Stored& one) {
  try {
    const auto bit = compare::one_bit_apart(pair, metrics.max_abs_index);
    one.one_bit = bit.has_value();
    one.sign = bit == compare::kSignBit;
  } catch (const Error&) {  // it tells nothing
  }
}

/// Whether it tells something of a state, and differs.
bool differs(const Seen& one) { return one.stored && !one.stored->equal; }

/// What was seen of all pairs, with the outliers where they are asked for.
std::vector<Seen> seen_in(const Work& work, std::span<const compare::Compared> compared,
                          const StepPair& steps, const DiffContext& context) {
  const limits::LimitOptions& limits = context.limits();
  std::vector<SecondLook*> looks(work.pairs.size());
  if (context.once != nullptr) looks = context.once->second_looks(work, steps);
  std::vector<Seen> seen(work.pairs.size());
  parallel_for(seen.size(), [&](std::size_t i) {
    seen[i] = of_compared(work.pairs[i], compared[i], limits, looks[i]);
  });
  const std::vector<bool> chance = of_round_off_gradients(work, compared);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].stored) seen[i].stored->chance = chance[i];
  }
  const bool outliers =
      limits::asks_outliers(all_of(seen, work), limits::cuts_of(limits.file.get()));
  parallel_for(seen.size(), [&](std::size_t i) {
    if (!differs(seen[i])) return;
    auto& one = seen[i].stored;
    const bool asked = outliers && one->units > 1;  // else it is rounding
    if (asked) look_at_elements(work.pairs[i], compared[i].metrics, looks[i], seen[i]);
    const bool small = asked && one->outlier <= limits::kOdd * limits::kSpike;
    if (small || one->bias) look_at_bits(work.pairs[i], compared[i].metrics, *one);
  });
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
  Asked(std::span<const Seen> seen, const Work& work, const limits::Cuts& cuts,
        const limits::Updates& updates)
      : work_(work), all_(all_of(seen, work)), cuts_(cuts), updates_(updates) {
    std::size_t next = 0;
    for (const Seen& one : seen) {
      moved_.push_back(one.moved);
      places_.push_back(one.stored ? std::optional(next++) : std::nullopt);
    }
  }

  /// Whether it tells something of a state, and is the same on both sides.
  bool is_equal(std::size_t pair) const { return places_[pair] && all_[*places_[pair]].equal; }

  bool differs() const {
    return std::ranges::any_of(all_, [](const auto& one) { return !one.equal; });
  }

  void add(std::span<const Seen> others) {
    for (const Seen& one : others) {
      if (one.stored) all_.push_back(*one.stored);
    }
  }

  void set_out_from(const Ancestor& ancestor) {
    base_ = ancestor.name;
    parallel_for(places_.size(), [&](std::size_t i) {
      if (!places_[i] || all_[*places_[i]].equal || ancestor.by_pair[i] == nullptr) return;
      all_[*places_[i]].way = way_since(work_.pairs[i], *ancestor.by_pair[i]);
    });
  }

  Relation relation() const { return limits::relate(all_, cuts_, base_, updates_); }

  States states(Relation relation) const {
    States states;
    limits::Cuts cuts = cuts_;
    if (relation.kind == RelationKind::same_training) {  // its updates may have told so
      cuts.weights = std::max(cuts.weights, relation.way ? 0 : relation.weights);
    }
    const auto limits = limits::state_limits(all_, relation, cuts);
    states.relation = std::move(relation);
    states.moved = moved_;
    const auto exact = std::make_shared<Limit>();
    exact->source = "exact: could not be sampled";
    states.limits.reserve(places_.size());
    for (const auto& place : places_) {
      states.limits.push_back(place ? limits[*place] : exact);
    }
    return states;
  }

 private:
  const Work& work_;
  std::vector<limits::Stored> all_;  ///< of the pairs, then of others
  std::vector<std::optional<Moved>> moved_;
  std::vector<std::optional<std::size_t>> places_;  ///< of pairs, in all_; none: tells nothing
  limits::Cuts cuts_;
  limits::Updates updates_;
  std::string base_;
};

/// Whether both runs have one state there, as far as a sample shows of what differs now: what is
/// equal was so before.
bool agree(const std::array<Ancestor, 2>& before, const Asked& now,
           const limits::LimitOptions& limits) {
  const auto& [a, b] = before;
  std::vector<limits::Stored> sampled;
  for (std::size_t i = 0; i < a.by_pair.size(); ++i) {
    if (a.by_pair[i] == nullptr || b.by_pair[i] == nullptr) continue;
    if (now.is_equal(i)) {
      sampled.push_back(equal_one());
      continue;
    }
    const Seen seen = of_sample({a.by_pair[i], b.by_pair[i]}, limits);
    if (seen.stored) sampled.push_back(*seen.stored);
  }
  if (sampled.empty()) return false;
  const RelationKind kind = limits::relate(sampled).kind;
  return kind == RelationKind::copies || kind == RelationKind::same_training;
}

/// Whether all tensors are equal, and no map made one: those of a map have the model's limit.
bool all_are_equal(const Work& work, std::span<const compare::Compared> compared) {
  for (std::size_t i = 0; i < compared.size(); ++i) {
    const compare::Pair& pair = work.pairs[i];
    if (!compared[i].whole() || pair.mapped()) return false;
    if (!verdict::equal_under(*pair.reference, *pair.candidate, compared[i].metrics)) return false;
  }
  return true;
}

}  // namespace

const Limit* States::limit_of(std::size_t pair) const {
  return limits.empty() ? &equal : limits[pair].get();
}

std::optional<Moved> States::moved_of(std::size_t pair) const {
  return moved.empty() ? std::nullopt : moved[pair];
}

std::optional<Detail> States::detail_of(std::size_t pair) const {
  const auto at =
      std::ranges::lower_bound(details, pair, {}, &std::pair<std::size_t, Detail>::first);
  return at != details.end() && at->first == pair ? std::optional(at->second) : std::nullopt;
}

States relate_states(const Work& work, std::span<const compare::Compared> compared,
                     const Work& beside, const StepPair& steps, const DiffContext& context) {
  const limits::LimitOptions& limits = context.limits();
  if (all_are_equal(work, compared)) return {limits::relate({}), limits::copy_limit(), {}, {}, {}};
  const std::vector<Seen> seen = seen_in(work, compared, steps, context);
  Asked asked(seen, work, limits::cuts_of(limits.file.get()),
              {work.rate.value_or(0), counted_updates(work, compared)});
  if (asked.differs()) {
    asked.add(samples_of(beside, limits));
    if (context.how.base) asked.set_out_from(named_ancestor(work, steps, context));
  }
  Relation relation = asked.relation();
  const bool open = relation.kind == RelationKind::undecided ||
                    (relation.kind == RelationKind::copies && asked.differs());
  if (open && !context.how.base) {
    const auto before = step_before(work, steps, context);
    if (before && agree(*before, asked, limits)) {
      asked.set_out_from(before->front());
      relation = asked.relation();
    }
  }
  States states = asked.states(std::move(relation));
  states.details = details_of(seen);
  return states;
}

}  // namespace ttcheck::diff
