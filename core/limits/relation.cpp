// SPDX-License-Identifier: Apache-2.0
// What rounding leaves of one training, what training leaves of two, and what lies between.
//
// The distance of a tensor is sum |b - a| / sum |a|. Of two correct runs in fp32 it stays below
// 1e-5 for some hundred steps, whatever the store: a 16-bit store turns an element with the
// probability |b - a| / ulp, which leaves the sum as it was. Other data, rates or seeds move it by
// the length of an update and more: above 1e-3 from about the first step on. Between the two lie
// runs whose products were rounded to 16 bits and small mistakes, which nothing in the weights
// tells apart (tests/trajectories/run measures all three).
//
// An optimizer's moments do: they hold gradients, which such products round by 1e-3 and more from
// the first step on, and other data or an update that was lost by 0.1 and more. Where they agree as
// fp32 does (1e-4), weights that do not were updated otherwise.
//
// Where the learning rate and the number of updates are known, too, a part m of moments that are
// apart says how far: Adam's update is m / sqrt(v) of the rate, so that T updates leave weights
// apart by at most T m of it, if all went the same way. What is within that is one training: 50
// updates of a rate that is large beside the weights were 2e-5 of them apart, and 7e-4 of the rate.
// Another decay is off by (d - d') |w| of the rate with each update, whatever moments show.
//
// So does an ancestor of both. Of the way that they came since then, two runs in fp32 are apart by
// less than 1e-3 for hundreds of steps (Lion, which steps by signs, up to 1.5e-3), however far that
// is, and in no direction (a cosine of 0.03); products of 16 bits leave 2 % at most, and in no
// direction: neither run came further, and none leans towards its own weights. Another rate, number
// of steps or decay does one or the other. What is apart by a tenth of the way is no rounding
// (tests/trajectories/run --base).
//
// The median over tensors, each counted by its elements up to kCounted, is the pair's distance: one
// damaged tensor does not move it.

#include "core/limits/relation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/limits/aside.hpp"
#include "core/model/dtype.hpp"

namespace ttcheck::limits {
namespace {

constexpr double kWayProducts = 0.02;  // part of the way that products of 16 bits make
constexpr double kWayTraining = 0.1;   // and training
constexpr double kDirected = 0.2;      // a cosine that no rounding has
constexpr double kWayLeaning = 1e-4;   // but of what the last bits of all updates make
constexpr std::int64_t kCounted = 16'384;
constexpr std::int64_t kHandful = 10;  // turned elements of all, which tell no distance

using Telling = std::vector<std::reference_wrapper<const Stored>>;

/// What a few turned elements make of a small tensor is no distance.
double beside_flips(const Stored& one) {
  constexpr double kFlips = 3;
  const double flips = kFlips * one.eps / static_cast<double>(std::max<std::int64_t>(one.count, 1));
  return std::max(0.0, one.moved.distance - flips);
}

/// The distance of those that differ and count; negative where none does.
template <class Counts>
double distance_of(const Telling& states, const Counts& counts) {
  std::vector<std::pair<double, double>> values;
  for (const Stored& one : states) {
    const double distance = one.moved.distance;
    if (one.equal || !counts(one.kind) || !(distance > 0) || std::isinf(distance)) continue;
    values.emplace_back(beside_flips(one), std::min(one.count, kCounted));
  }
  return values.empty() ? -1 : weighted_median(std::move(values));
}

/// The way of tensors that differ, of which an ancestor tells; those of few elements tell no
/// direction.
std::optional<WaySince> way_of(const Telling& states) {
  constexpr double kSigmas = 5;
  constexpr auto kEnough = static_cast<std::int64_t>(kSigmas * kSigmas / (kDirected * kDirected));
  std::vector<std::pair<double, double>> apart, gone, further, along;
  for (const Stored& one : states) {
    if (one.equal || is_moment(one.kind) || !one.way) continue;
    const auto weight = static_cast<double>(std::min(one.count, kCounted));
    const double beside = std::max(0.0, beside_flips(one) - epsilon(DType::f32));
    apart.emplace_back(one.way->apart * (beside / one.moved.distance), weight);
    gone.emplace_back(one.way->gone, weight);
    further.emplace_back(one.count < kEnough ? 0 : one.way->further, weight);
    along.emplace_back(one.count < kEnough ? 0 : one.way->along, weight);
  }
  if (apart.empty()) return std::nullopt;
  return WaySince{weighted_median(std::move(apart)), weighted_median(std::move(gone)),
                  weighted_median(std::move(further)), weighted_median(std::move(along))};
}

/// Whether updates in products of 16 bits may have made it: few of its values differ, by little.
bool is_small(const Stored& one, const Cuts& cuts) {
  const bool little = one.moved.distance < kTraining && one.outlier <= kOdd * kSpike;
  return may_be_rounding(one, cuts) || (little && !one.one_bit);
}

/// Whether its few elements may have been stepped the other way, and are no flipped bit.
bool is_turned(const Stored& one, const Cuts& cuts) {
  const bool little = one.outlier <= kSpike && !one.one_bit && !one.mapped;
  return may_be_rounding(one, cuts) || little;
}

/// Those that tell a relation; or all, where none does.
Telling told_by(std::span<const Stored> states) {
  const std::vector<bool> aside = moved_by_chance(states);
  Telling kept;
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (!aside[i] && !states[i].chance) kept.emplace_back(states[i]);
  }
  if (kept.empty()) kept.assign(states.begin(), states.end());
  return kept;
}

struct Counts {
  std::int64_t tells = 0, equal = 0;                 ///< tensors that may show a copy
  double values = 0, equal_values = 0;               ///< of them
  std::int64_t differ = 0, rounding = 0, small = 0;  ///< all tensors that are not equal
  std::int64_t by_one = 0;                           ///< of them, each value by one unit at most
  std::int64_t turned = 0, steps = 0;  ///< or as an optimizer that steps by signs may turn them
  bool mapped = false;                 ///< some tell only what a map made of them
  std::int64_t elements = 0;           ///< that are not
  std::int64_t rounded = 0;            ///< of them, in tensors that rounding may have made
  double weight = 0, unlike = 0;       ///< counted elements, and of those that differ

  Counts(const Telling& states, const Cuts& cuts) {
    for (const Stored& one : states) {
      if (one.tells()) count_copy(one);
      mapped = mapped || one.mapped;
      const auto counted = static_cast<double>(std::min(one.count, kCounted));
      weight += counted;
      if (one.equal) continue;
      unlike += counted;
      ++differ;
      elements += one.unequal;
      if (may_be_rounding(one, cuts)) ++rounding, rounded += one.unequal;
      if (one.units <= 1) ++by_one;
      if (is_small(one, cuts)) ++small;
      if (is_turned(one, cuts)) ++turned;
      if (may_be_rounding(one, cuts) || may_be_steps(one)) ++steps;
    }
  }

  /// Most tensors are as they were or, of one or two that are not, most values.
  bool as_copies() const {
    if (tells == 0) return mapped;
    return 2 * equal >= tells || (is_few() && 2 * equal_values >= values);
  }
  bool is_few() const { return differ <= 2; }
  /// Most of the tensors that are not, or most of their elements, are as rounding leaves them:
  /// updates in other arithmetic may be behind it.
  bool as_rounding() const { return 2 * rounding > differ || 2 * rounded > elements; }
  /// They differ by little each, in several tensors: where one value of all is off, it is damage.
  bool as_small() const { return (differ > 1 && as_turned()) || (!is_few() && 2 * small > differ); }
  /// They differ in so few elements that their tensors tell nothing else.
  bool as_turned() const { return elements <= kHandful && turned == differ && rounding < differ; }
  bool is_turned_copy() const { return 2 * equal >= tells && as_copies() && as_turned(); }
  bool as_steps() const { return steps == differ; }
  bool is_handful() const { return elements <= kHandful && rounding == differ; }
  /// One value of all is off by one rounding.
  bool is_lone() const { return elements == 1 && by_one == 1; }

 private:
  void count_copy(const Stored& one) {
    ++tells;
    if (one.equal) ++equal;
    values += static_cast<double>(one.count);
    equal_values += static_cast<double>(one.equal ? one.count : one.count - one.unequal);
  }
};

/// Nobody measured what lies beyond rounding, or somebody did.
RelationKind beyond_rounding(const Relation& relation, const Cuts& cuts) {
  const double moments = cuts.unsure > 1 ? kMomentTraining : 0;
  const bool open = relation.weights <= cuts.unsure * cuts.weights &&
                    relation.moments <= std::max(cuts.moments, moments);
  return cuts.measured && !open ? RelationKind::trained_apart : RelationKind::undecided;
}

RelationKind by_rounding(const Counts& counts, const Relation& relation, const Cuts& cuts) {
  if (counts.is_lone()) return RelationKind::undecided;
  const bool rounding = counts.is_handful() || relation.weights <= cuts.weights;
  return rounding ? RelationKind::same_training : beyond_rounding(relation, cuts);
}

/// Whether so many updates, each of which went as far astray as the moments show, explain it.
bool as_its_moments(const Relation& relation) {
  return relation.updates >= 0 && relation.updates <= relation.steps * relation.moments;
}

RelationKind by_distance(const Counts& counts, const Relation& relation, const Cuts& cuts) {
  const bool within = relation.weights <= cuts.weights && relation.moments <= cuts.moments;
  if (counts.as_copies()) {
    if (counts.as_rounding()) return by_rounding(counts, relation, cuts);
    const bool seen = cuts.measured && within && cuts.seen > 0;
    if (seen && counts.as_turned()) return RelationKind::same_training;
    if (!counts.as_small()) return RelationKind::copies;
    return cuts.measured && within ? RelationKind::same_training : beyond_rounding(relation, cuts);
  }
  if (counts.is_handful()) return by_rounding(counts, relation, cuts);
  if (cuts.measured) {
    return within ? RelationKind::same_training : beyond_rounding(relation, cuts);
  }
  const bool moments = relation.moments >= 0;
  if (relation.weights >= kTraining || relation.moments >= kMomentTraining) {
    return RelationKind::trained_apart;
  }
  const bool rounding = relation.weights <= cuts.weights;
  if (!moments) return rounding ? RelationKind::same_training : RelationKind::undecided;
  if (relation.moments > cuts.moments) return RelationKind::undecided;
  return rounding || as_its_moments(relation) ? RelationKind::same_training
                                              : RelationKind::trained_apart;
}

/// What an ancestor adds to `kind`, which the states alone came to.
RelationKind by_way(RelationKind kind, const Relation& relation, const Cuts& cuts) {
  const WaySince& way = *relation.way;
  const bool rounding = relation.moments <= cuts.moments;  // or there are none
  const bool moments = relation.moments >= kMomentTraining;
  const bool directed =
      std::max(std::abs(way.further), std::abs(way.along)) >= kDirected && way.apart > kWayLeaning;
  if (way.apart <= kWayRounding && rounding && !directed) return RelationKind::same_training;
  if (way.apart >= kWayTraining || directed || moments) return RelationKind::trained_apart;
  return way.apart <= kWayProducts ? RelationKind::undecided : kind;
}

/// What an ancestor adds to copies: only what an optimizer may have done is no damage. Tensors that
/// are equal came the same way.
RelationKind of_copies(const Counts& counts, const Relation& relation) {
  if (!counts.as_steps()) return relation.kind;
  const double apart = relation.way->apart * counts.unlike / counts.weight;
  if (apart <= kWayRounding) return RelationKind::same_training;
  return apart <= kWayProducts ? RelationKind::undecided : relation.kind;
}

/// The ways in words, with their direction where they have one.
std::string words_of(const WaySince& way, const std::string& base) {
  std::string text = fmt::format("; since {} they came {:.2g} % and are apart by {:.2g} % of that",
                                 base, 100 * way.gone, 100 * way.apart);
  if (way.apart <= kWayLeaning) return text;
  if (std::abs(way.further) >= kDirected) {
    text += way.further > 0 ? ": the candidate came further" : ": the reference came further";
  } else if (std::abs(way.along) >= kDirected) {
    text += way.along > 0 ? ": the candidate's are larger" : ": the candidate's are smaller";
  }
  return text;
}

/// The median of weights in a store that rounds by less than an update; negative without one.
double updates_apart(const Telling& states, double rate) {
  std::vector<std::pair<double, double>> values;
  for (const Stored& one : states) {
    if (one.equal || !is_parameter(one.kind) || one.eps > epsilon(DType::f32)) continue;
    if (!std::isfinite(one.rms_apart)) continue;
    values.emplace_back(one.rms_apart / rate, std::min(one.count, kCounted));
  }
  return values.empty() ? -1 : weighted_median(std::move(values));
}

std::string evidence_of(const Counts& counts, const Relation& relation, const Cuts& cuts) {
  if (counts.is_lone()) {
    return "one value of all is off by one rounding: a turned lowest bit would look the same";
  }
  if (relation.lone) {
    return fmt::format(
        "{} of all values are off by little: steps that were taken the other way and "
        "damage would look the same",
        counts.elements);
  }
  std::string text = fmt::format("{} of {} tensors are equal; ", counts.equal, counts.tells);
  if (counts.equal == 0) text.clear();
  if (relation.kind == RelationKind::copies) {
    return text + fmt::format("{:.6g} % of all values are",
                              100 * counts.equal_values / std::max(counts.values, 1.0));
  }
  if (relation.weights > 0) {
    text += fmt::format("weights that differ are apart by {:.2g} % of their values",
                        100 * relation.weights);
  } else {
    text += "weights differ by single roundings";
  }
  if (cuts.measured) {
    const bool unsure = cuts.unsure > 1 && relation.weights <= cuts.unsure * cuts.weights;
    text += fmt::format(", those of correct runs by up to {:.2g} %{}", 100 * cuts.seen,
                        unsure ? ", perhaps by more" : "");
  }
  if (relation.moments >= 0) text += fmt::format(", moments by {:.2g} %", 100 * relation.moments);
  if (relation.updates >= 0 && relation.weights > cuts.weights) {
    text += fmt::format(
        "; that is {:.2g} x the learning rate, about the most that one update moves "
        "a value",
        relation.updates);
  }
  if (relation.way) text += words_of(*relation.way, relation.base);
  return text;
}

}  // namespace

Relation relate(std::span<const Stored> all_states, const Cuts& cuts, const std::string& base,
                const Updates& updates) {
  Relation relation;
  const Telling states = told_by(all_states);
  const Counts counts(states, cuts);
  if (counts.differ == 0) {
    const bool all = std::ranges::none_of(all_states, &Stored::disagrees) &&
                     std::ranges::all_of(all_states, &Stored::equal);
    relation.evidence = all ? "all tensors are equal" : "all other tensors are equal";
    return relation;
  }
  relation.weights = distance_of(states, is_parameter);
  if (relation.weights < 0) {  // no name tells what they are
    relation.weights = distance_of(states, [](Kind kind) { return !is_moment(kind); });
  }
  relation.weights = std::max(relation.weights, 0.0);
  relation.moments = distance_of(states, is_moment);
  if (updates.rate > 0) relation.updates = updates_apart(states, updates.rate);
  relation.steps = updates.count;
  relation.measured = cuts.measured;
  relation.lone = counts.is_lone();
  relation.way = way_of(states);
  relation.base = base;
  relation.kind = by_distance(counts, relation, cuts);
  if (relation.way && !relation.lone && !counts.is_handful()) {
    const bool copies = relation.kind == RelationKind::copies || counts.is_turned_copy();
    relation.kind = copies ? of_copies(counts, relation) : by_way(relation.kind, relation, cuts);
  }
  if (relation.kind == RelationKind::undecided && counts.is_turned_copy()) relation.lone = true;
  relation.evidence = evidence_of(counts, relation, cuts);
  return relation;
}

bool asks_outliers(std::span<const Stored> states, const Cuts& cuts) {
  const Counts counts(told_by(states), cuts);
  return counts.differ > 0 && (counts.as_copies() || counts.elements <= kHandful);
}

}  // namespace ttcheck::limits
