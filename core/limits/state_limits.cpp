// SPDX-License-Identifier: Apache-2.0
// A tensor is an odd one out where it is kOdd times as far as its siblings, or as all tensors where
// it has fewer than kFew (biases: as those of the part that moved most), in the mean, in a
// run of 512 elements or in one. What all are is held at `least_moved`.

#include "core/limits/state_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/limits/aside.hpp"
#include "core/limits/siblings.hpp"

namespace ttcheck::limits {
namespace {

constexpr double kMostOpen = 1e-2;  // what products of 16 bits make of a matrix
constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr std::size_t kFew = 3;
// Of a bias that began at zero, which updates alone made, some of whose elements went either way.
constexpr Moved kOfUpdates{1e-2, 0.1, 0.2, 0};
constexpr Moved kOfChance{1, 1, 2, 0};  // of two ways of one length, in any directions

/// Medians over tensors that are alike; each holds its floor.
class Siblings {
 public:
  Siblings(std::span<const Stored> states, const Cuts& cuts) : states_(states), cuts_(cuts) {
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (states[i].equal || !std::isfinite(states[i].moved.distance)) continue;
      if (is_parameter(states[i].kind)) add_step(states[i].most_apart);
      groups_[key_of(states[i])].push_back(i);
      all_.at(place_of(states[i])).push_back(i);
    }
    for (const auto& [key, members] : groups_) medians_.emplace(key, median_of(members));
    for (std::size_t i = 0; i < all_.size(); ++i) of_all_.at(i) = median_of(all_.at(i));
    for (const auto& [key, members] : groups_) raise_biases(members, medians_.at(key));
  }

  bool are_few(const Stored& one) const {
    const auto group = groups_.find(key_of(one));
    return group == groups_.end() || group->second.size() < kFew;
  }

  /// How far an element of another tensor is apart.
  double step_beside(const Stored& one) const {
    return one.most_apart < steps_[0] ? steps_[0] : steps_[1];
  }

  /// Whether what it is apart, beyond `distance`, is not its own: another sibling is beyond that,
  /// or a tenth of it apart.
  bool share(const Stored& one, double distance) const {
    const double own = one.moved.distance;
    return share_distance(one, own > distance ? std::min(distance, own / kOdd) : distance);
  }

  /// Whether it and another sibling are further apart.
  bool share_distance(const Stored& one, double distance) const {
    const auto group = groups_.find(key_of(one));
    if (group == groups_.end()) return false;
    const auto& others = are_few(one) && one.bias ? all_.at(place_of(one)) : group->second;
    return std::ranges::count_if(
               others, [&](std::size_t i) { return states_[i].moved.distance > distance; }) > 1;
  }

  /// Too few to tell what is usual.
  bool tell_nothing(const Stored& one) const {
    return are_few(one) && all_.at(place_of(one)).size() < kFew;
  }

  /// How far others like this one are,
  Moved median(const Stored& one) const {
    return are_few(one) ? of_all_.at(place_of(one)) : medians_.find(key_of(one))->second;
  }

  /// and at least as far as all may be.
  Moved usual(const Stored& one) const {
    const Moved least = one.bias ? kOfUpdates : least_moved(one, cuts_);
    const Moved found = median(one);
    return {std::max(found.distance, least.distance), std::max(found.block, least.block),
            std::max(found.spike, least.spike), 0};
  }

 private:
  /// Some began at zero and others did not: a bias without siblings may be as any part of them.
  void raise_biases(const std::vector<std::size_t>& members, const Moved& median) {
    if (place_of(states_[members.front()]) != 2 || members.size() < kFew) return;
    Moved& most = of_all_[2];
    most = {std::max(most.distance, median.distance), std::max(most.block, median.block),
            std::max(most.spike, median.spike), 0};
  }

  void add_step(double apart) {
    if (apart > steps_[0]) std::swap(apart, steps_[0]);
    steps_[1] = std::max(steps_[1], apart);
  }

  static std::size_t place_of(const Stored& one) {
    return is_moment(one.kind) ? 1 : one.bias ? 2 : 0;
  }

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
  Cuts cuts_;
  std::map<std::string, std::vector<std::size_t>> groups_;
  std::map<std::string, Moved> medians_;
  std::array<std::vector<std::size_t>, 3> all_;  ///< weights and others, moments, biases
  std::array<Moved, 3> of_all_;
  std::array<double, 2> steps_{};  ///< the two tensors whose elements are the furthest apart
};

/// How far a bias may be that repeats showed chance to move.
std::optional<double> measured_bias(const Stored& one, const Cuts& cuts) {
  if (cuts.biases == nullptr) return std::nullopt;
  const auto found = cuts.biases->find(siblings_of(one.name));
  if (found == cuts.biases->end()) return std::nullopt;
  return cuts.times * found->second;
}

/// How far apart a tensor may be that moved along gradients that are round-off.
Moved of_chance(const Stored& one) {
  return is_moment(one.kind) ? Moved{kNone, kNone, kNone, 0} : kOfChance;
}

/// Whether it may be one training's though it is further apart than rounding: tensors of several
/// layers that are apart where most agree moved along gradients that are round-off, or behind
/// products of 16 bits, or were damaged; and so did few elements of a bias, no further than those
/// of other tensors.
bool may_be_trained(const Stored& one, const Cuts& cuts, const Moved& least,
                    const Siblings& siblings) {
  const bool far = one.moved.distance > kOdd * least.distance || one.largest > kOdd * least.spike;
  if (!far || is_moment(one.kind)) return false;
  if ((one.bias || !cuts.measured) && siblings.share(one, kOdd * least.distance)) return true;
  return !cuts.measured && may_be_turned(one, siblings.step_beside(one));
}

/// The limit of a tensor. Where rounding is all, what siblings have in common is no excuse, unless
/// repeats were measured. Nothing of a copy was trained that chance could have a part in.
Limit limit_of(const Stored& one, bool aside, RelationKind relation, const Cuts& cuts,
               const Siblings& siblings) {
  const bool rounding = relation == RelationKind::copies || relation == RelationKind::same_training;
  const Moved least = least_moved(one, cuts);
  const bool in_places = !is_moment(one.kind);  // gradients are large in few
  const bool round_off = one.chance && relation != RelationKind::copies;
  const bool trained = relation == RelationKind::same_training && !round_off &&
                       may_be_trained(one, cuts, least, siblings);
  const bool chance = trained || (aside && !round_off);
  const bool strict = rounding && !chance && !round_off && !cuts.measured;
  const auto along = [&] { return round_off ? of_chance(one) : siblings.usual(one); };
  const Moved usual = strict ? least : along();
  Limit limit;
  limit.kind = LimitKind::state;
  limit.open = chance || relation == RelationKind::undecided;
  limit.odd = kOdd * usual.distance;
  if (limit.open && in_places && !one.bias &&
      (trained || !siblings.share_distance(one, kMostOpen))) {
    limit.odd = std::min(limit.odd, kMostOpen);
  }
  limit.row = in_places ? kOdd * usual.block : kNone;
  limit.outlier = in_places ? kOdd * usual.spike : kNone;
  if (!rounding && !in_places && siblings.are_few(one)) limit.odd = kNone;
  if (!rounding && siblings.tell_nothing(one)) limit.odd = limit.row = limit.outlier = kNone;
  limit.rel = (rounding && !chance) || round_off ? limit.odd : least_apart(one, cuts);
  if (const auto bias = measured_bias(one, cuts); bias && rounding) {
    limit.open = false;
    limit.rel = limit.odd = std::max(*bias, along().distance);
    limit.row = limit.outlier = kNone;
  }
  limit.source =
      fmt::format("{}: {:.2g} of the values",
                  round_off ? "gradients that are round-off" : name(relation), limit.rel);
  limit.group = fmt::format("{}: what rounding does to stored values", name(relation));
  return limit;
}

}  // namespace

Limit copy_limit() {
  Limit limit;
  limit.kind = LimitKind::copy;
  limit.source = "copy: at least half of the tensors are equal, so the rest must be";
  return limit;
}

std::vector<std::shared_ptr<const Limit>> state_limits(std::span<const Stored> states,
                                                       const Relation& relation, const Cuts& cuts) {
  std::vector<std::shared_ptr<const Limit>> limits(states.size());
  const auto of_copy = std::make_shared<const Limit>(copy_limit());
  const Siblings siblings(states, cuts);
  const std::vector<bool> aside = moved_by_chance(states);
  const bool copies = relation.kind == RelationKind::copies;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Stored& one = states[i];
    if (copies && one.mapped) continue;
    const bool held = !aside[i] && !measured_bias(one, cuts);
    const bool copy = copies && held && (one.equal || !may_be_rounding(one, cuts));
    if (copy) {
      limits[i] = of_copy;
      continue;
    }
    Limit limit = limit_of(one, aside[i], relation.kind, cuts, siblings);
    if (relation.lone) limit.rel = 0;
    limits[i] = std::make_shared<const Limit>(std::move(limit));
  }
  return limits;
}

}  // namespace ttcheck::limits
