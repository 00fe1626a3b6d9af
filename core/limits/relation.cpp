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
// The median over tensors, each counted by its elements up to kCounted, is the pair's distance: one
// damaged tensor does not move it. A tensor is an odd one out where it is kOdd times as far as its
// siblings, or as all tensors where it has fewer than kFew, in the mean, in a run of 512 elements
// or in one. What all are is held at a floor: for the mean that of fp32 and what one turned element
// of the store makes; for runs and elements what an update along a gradient that is round-off
// makes.

#include "core/limits/relation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "core/limits/siblings.hpp"

namespace ttcheck::limits {
namespace {

constexpr double kRounding = 1e-5;        // distance of weights in fp32
constexpr double kMomentRounding = 1e-4;  // of moments
constexpr double kTraining = 1e-3;        // from which on weights were trained apart
constexpr double kMomentTraining = 0.1;   // and moments
constexpr double kRunApart = 1e-3;        // of 512 elements, by chance
constexpr double kSpike = 0.017;          // of one
constexpr double kOdd = 10;
constexpr double kMostOpen = 1e-2;  // what products of 16 bits make of a matrix
constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr std::size_t kFew = 3;
// Of a bias that began at zero, which updates alone made, some of whose elements went either way.
constexpr Moved kOfUpdates{1e-2, 0.1, 0.2, 0};
constexpr std::int64_t kCounted = 16'384;
constexpr std::int64_t kHandful = 10;  // turned elements of all, which tell no distance

bool is_moment(Kind kind) {
  return kind == Kind::moment1 || kind == Kind::moment2 || kind == Kind::momentum;
}

/// Of values that were counted with weights; 0 without any.
double weighted_median(std::vector<std::pair<double, double>> values) {
  std::ranges::sort(values);
  double all = 0;
  for (const auto& [value, weight] : values) all += weight;
  double below = 0;
  for (const auto& [value, weight] : values) {
    below += weight;
    if (2 * below >= all) return value;
  }
  return 0;
}

/// What a few turned elements make of a small tensor is no distance.
double beside_flips(const Stored& one) {
  constexpr double kFlips = 3;
  const double flips = kFlips * one.eps / static_cast<double>(std::max<std::int64_t>(one.count, 1));
  return std::max(0.0, one.moved.distance - flips);
}

/// The distance of those that differ and count; negative where none does.
template <class Counts>
double distance_of(std::span<const Stored> states, const Counts& counts) {
  std::vector<std::pair<double, double>> values;
  for (const Stored& one : states) {
    const double distance = one.moved.distance;
    if (one.equal || !counts(one.kind) || !(distance > 0) || std::isinf(distance)) continue;
    values.emplace_back(beside_flips(one), std::min(one.count, kCounted));
  }
  return values.empty() ? -1 : weighted_median(std::move(values));
}

double rounding_of(const Stored& one) { return is_moment(one.kind) ? kMomentRounding : kRounding; }

/// What all are held to at least.
Moved floor_of(const Stored& one) {
  const double count = static_cast<double>(std::max<std::int64_t>(one.count, 1));
  return {std::max(rounding_of(one), one.eps / count), std::max(kRunApart, one.eps),
          std::max(kSpike, one.eps), 0};
}

/// Whether an unequal tensor of a copy may be what rounding makes: each element is turned by one
/// unit (which is at most eps of it), several by one or two, or many by little, all over the
/// tensor. Damage is larger, or in one place.
bool may_be_rounding(const Stored& one) {
  constexpr std::int64_t kSeveral = 4, kMany = 16;
  constexpr double kUnits = 16;
  constexpr int kParts = 8;
  if (one.max_rel <= one.eps) return true;
  // A value far below the others may be turned by several of its own.
  if (one.max_rel <= kUnits * one.eps && one.outlier <= one.eps / 2) return true;
  if (one.unequal >= kSeveral && one.outlier <= 2 * one.eps) return true;
  const bool many = one.unequal >= std::max(kMany, one.count / 100);
  return many && one.moved.parts >= kParts && one.moved.distance <= floor_of(one).distance &&
         one.outlier <= kSpike;
}

/// Whether updates in products of 16 bits may have made it: few of its values differ, by little.
bool is_small(const Stored& one) {
  return may_be_rounding(one) || (one.moved.distance < kTraining && one.outlier <= kOdd * kSpike);
}

struct Counts {
  std::int64_t tells = 0, equal = 0;                 ///< tensors that may show a copy
  double values = 0, equal_values = 0;               ///< of them
  std::int64_t differ = 0, rounding = 0, small = 0;  ///< all tensors that are not equal
  std::int64_t by_one = 0;                           ///< of them, each value by one unit at most
  std::int64_t elements = 0;                         ///< that are not

  explicit Counts(std::span<const Stored> states) {
    for (const Stored& one : states) {
      if (one.tells()) count_copy(one);
      if (one.equal) continue;
      ++differ;
      elements += one.unequal;
      if (may_be_rounding(one)) ++rounding;
      if (one.max_rel <= one.eps) ++by_one;
      if (is_small(one)) ++small;
    }
  }

  /// Most tensors are as they were or, of one or two that are not, most values.
  bool as_copies() const { return 2 * equal >= tells || (is_few() && 2 * equal_values >= values); }
  bool is_few() const { return differ <= 2; }
  /// Of what is not, most is as rounding leaves it: updates in other arithmetic may be behind it.
  bool as_rounding() const { return 2 * rounding > differ; }
  bool as_small() const { return !is_few() && 2 * small > differ; }
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

RelationKind by_rounding(const Counts& counts, const Relation& relation) {
  if (counts.is_lone()) return RelationKind::undecided;
  const bool rounding = counts.is_handful() || relation.weights <= kRounding;
  return rounding ? RelationKind::same_training : RelationKind::undecided;
}

RelationKind by_distance(const Counts& counts, const Relation& relation) {
  if (counts.as_copies()) {
    if (counts.as_rounding()) return by_rounding(counts, relation);
    return counts.as_small() ? RelationKind::undecided : RelationKind::copies;
  }
  if (counts.is_handful()) return by_rounding(counts, relation);
  const bool moments = relation.moments >= 0;
  if (relation.weights >= kTraining || relation.moments >= kMomentTraining) {
    return RelationKind::trained_apart;
  }
  const bool rounding = relation.weights <= kRounding;
  if (!moments) return rounding ? RelationKind::same_training : RelationKind::undecided;
  if (relation.moments > kMomentRounding) return RelationKind::undecided;
  return rounding ? RelationKind::same_training : RelationKind::trained_apart;
}

/// Medians over tensors that are alike; each holds its floor.
class Siblings {
 public:
  explicit Siblings(std::span<const Stored> states) : states_(states) {
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (states[i].equal || !std::isfinite(states[i].moved.distance)) continue;
      groups_[key_of(states[i])].push_back(i);
      all_[is_moment(states[i].kind) ? 1 : 0].push_back(i);
    }
    for (const auto& [key, members] : groups_) medians_.emplace(key, median_of(members));
    for (std::size_t i = 0; i < all_.size(); ++i) of_all_.at(i) = median_of(all_.at(i));
  }

  bool are_few(const Stored& one) const {
    const auto group = groups_.find(key_of(one));
    return group == groups_.end() || group->second.size() < kFew;
  }

  /// Whether it and another sibling are further apart.
  bool share_distance(const Stored& one, double distance) const {
    const auto group = groups_.find(key_of(one));
    return group != groups_.end() && std::ranges::count_if(group->second, [&](std::size_t i) {
                                       return states_[i].moved.distance > distance;
                                     }) > 1;
  }

  /// Too few to tell what is usual.
  bool tell_nothing(const Stored& one) const {
    return are_few(one) && all_.at(is_moment(one.kind) ? 1 : 0).size() < kFew;
  }

  /// How far others like this one are,
  Moved median(const Stored& one) const {
    return are_few(one) ? of_all_.at(is_moment(one.kind) ? 1 : 0)
                        : medians_.find(key_of(one))->second;
  }

  /// and at least as far as all may be.
  Moved usual(const Stored& one) const {
    const Moved least = one.bias ? kOfUpdates : floor_of(one);
    const Moved found = median(one);
    return {std::max(found.distance, least.distance), std::max(found.block, least.block),
            std::max(found.spike, least.spike), 0};
  }

 private:
  static std::string key_of(const Stored& one) {
    return fmt::format("{}/{}", static_cast<int>(one.kind), siblings_of(one.name));
  }

  Moved median_of(const std::vector<std::size_t>& members) const {
    const auto of = [&](double Moved::* part) {
      std::vector<std::pair<double, double>> values;
      for (const std::size_t i : members) values.emplace_back(states_[i].moved.*part, 1.0);
      return weighted_median(std::move(values));
    };
    return {of(&Moved::distance), of(&Moved::block), of(&Moved::spike), 0};
  }

  std::span<const Stored> states_;
  std::map<std::string, std::vector<std::size_t>> groups_;
  std::map<std::string, Moved> medians_;
  std::array<std::vector<std::size_t>, 2> all_;  ///< weights and others, moments
  std::array<Moved, 2> of_all_;
};

std::string evidence_of(const Counts& counts, const Relation& relation) {
  if (counts.is_lone()) {
    return "one value of all is off by one rounding: a turned lowest bit would look the same";
  }
  std::string text = fmt::format("{} of {} tensors are equal; ", counts.equal, counts.tells);
  if (counts.equal == 0) text.clear();
  if (relation.kind == RelationKind::copies) {
    return text + fmt::format("{:.6g} % of all values are",
                              100 * counts.equal_values / std::max(counts.values, 1.0));
  }
  text += fmt::format("weights that differ are apart by {:.2g} % of their values",
                      100 * relation.weights);
  if (relation.moments >= 0) text += fmt::format(", moments by {:.2g} %", 100 * relation.moments);
  return text;
}

}  // namespace

Relation relate(std::span<const Stored> states) {
  Relation relation;
  const Counts counts(states);
  if (counts.differ == 0) {
    relation.evidence = "all tensors are equal";
    return relation;
  }
  relation.weights = distance_of(states, is_parameter);
  if (relation.weights < 0) {  // no name tells what they are
    relation.weights = distance_of(states, [](Kind kind) { return !is_moment(kind); });
  }
  relation.weights = std::max(relation.weights, 0.0);
  relation.moments = distance_of(states, is_moment);
  relation.kind = by_distance(counts, relation);
  relation.evidence = evidence_of(counts, relation);
  return relation;
}

bool asks_outliers(std::span<const Stored> states) {
  const Counts counts(states);
  return counts.differ > 0 && (counts.as_copies() || counts.elements <= kHandful);
}

namespace {

Limit copy_limit() {
  Limit limit;
  limit.kind = LimitKind::copy;
  limit.source = "copy: at least half of the tensors are equal, so the rest must be";
  return limit;
}

/// Where rounding is all, what siblings have in common is no excuse. Biases of all layers that are
/// apart where the weights agree moved along gradients that are round-off, or were damaged: open.
Limit limit_of(const Stored& one, RelationKind relation, const Siblings& siblings) {
  const bool rounding = relation == RelationKind::copies || relation == RelationKind::same_training;
  const bool chance = relation == RelationKind::same_training && one.bias &&
                      siblings.share_distance(one, kOdd * floor_of(one).distance);
  const Moved usual = rounding && !chance ? floor_of(one) : siblings.usual(one);
  const bool in_places = !is_moment(one.kind);  // gradients are large in few
  Limit limit;
  limit.kind = LimitKind::state;
  limit.open = chance || relation == RelationKind::undecided;
  limit.odd = kOdd * usual.distance;
  if (limit.open && in_places && !one.bias) limit.odd = std::min(limit.odd, kMostOpen);
  limit.row = in_places ? kOdd * usual.block : kNone;
  limit.outlier = in_places ? kOdd * usual.spike : kNone;
  if (!rounding && !in_places && siblings.are_few(one)) limit.odd = kNone;
  if (!rounding && siblings.tell_nothing(one)) limit.odd = limit.row = limit.outlier = kNone;
  limit.rel = rounding && !chance ? limit.odd : floor_of(one).distance;
  limit.source = fmt::format("{}: {:.2g} of the values", name(relation), limit.rel);
  limit.group = fmt::format("{}: what rounding does to stored values", name(relation));
  return limit;
}

}  // namespace

std::vector<std::optional<Limit>> state_limits(std::span<const Stored> states,
                                               const Relation& relation) {
  std::vector<std::optional<Limit>> limits;
  limits.reserve(states.size());
  const Siblings siblings(states);
  const bool lone = Counts(states).is_lone();
  const bool copies = relation.kind == RelationKind::copies;
  for (const Stored& one : states) {
    std::optional<Limit>& limit = limits.emplace_back();
    if (copies && one.mapped) continue;
    const bool copy = copies && (one.equal || !may_be_rounding(one));
    limit = copy ? copy_limit() : limit_of(one, relation.kind, siblings);
    if (lone) limit->rel = 0;
  }
  return limits;
}

}  // namespace ttcheck::limits
