// A tensor is an odd one out where it is kOdd times as far as its siblings, or as all tensors where
// it has fewer than kFew, in the mean, in a run of 512 elements or in one. What all are is held at
// `least_moved`.

#include "core/limits/state_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "core/limits/siblings.hpp"

namespace ttcheck::limits {
namespace {

constexpr double kMostOpen = 1e-2;  // what products of 16 bits make of a matrix
constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr std::size_t kFew = 3;
// Of a bias that began at zero, which updates alone made, some of whose elements went either way.
constexpr Moved kOfUpdates{1e-2, 0.1, 0.2, 0};

/// Medians over tensors that are alike; each holds its floor.
class Siblings {
 public:
  Siblings(std::span<const Stored> states, const Cuts& cuts) : states_(states), cuts_(cuts) {
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
    const Moved least = one.bias ? kOfUpdates : least_moved(one, cuts_);
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
  Cuts cuts_;
  std::map<std::string, std::vector<std::size_t>> groups_;
  std::map<std::string, Moved> medians_;
  std::array<std::vector<std::size_t>, 2> all_;  ///< weights and others, moments
  std::array<Moved, 2> of_all_;
};

Limit copy_limit() {
  Limit limit;
  limit.kind = LimitKind::copy;
  limit.source = "copy: at least half of the tensors are equal, so the rest must be";
  return limit;
}

/// Where rounding is all, what siblings have in common is no excuse, unless repeats were measured.
/// Biases of all layers that are apart where the weights agree moved along gradients that are
/// round-off, or were damaged: open.
Limit limit_of(const Stored& one, RelationKind relation, const Cuts& cuts,
               const Siblings& siblings) {
  const bool rounding = relation == RelationKind::copies || relation == RelationKind::same_training;
  const bool chance = relation == RelationKind::same_training && one.bias &&
                      siblings.share_distance(one, kOdd * least_moved(one, cuts).distance);
  const bool strict = rounding && !chance && !cuts.measured;
  const Moved usual = strict ? least_moved(one, cuts) : siblings.usual(one);
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
  limit.rel = rounding && !chance ? limit.odd : least_apart(one, cuts);
  limit.source = fmt::format("{}: {:.2g} of the values", name(relation), limit.rel);
  limit.group = fmt::format("{}: what rounding does to stored values", name(relation));
  return limit;
}

}  // namespace

std::vector<std::optional<Limit>> state_limits(std::span<const Stored> states,
                                               const Relation& relation, const Cuts& cuts) {
  std::vector<std::optional<Limit>> limits;
  limits.reserve(states.size());
  const Siblings siblings(states, cuts);
  const bool copies = relation.kind == RelationKind::copies;
  for (const Stored& one : states) {
    std::optional<Limit>& limit = limits.emplace_back();
    if (copies && one.mapped) continue;
    const bool copy = copies && (one.equal || !may_be_rounding(one, cuts));
    limit = copy ? copy_limit() : limit_of(one, relation.kind, cuts, siblings);
    if (relation.lone) limit->rel = 0;
  }
  return limits;
}

}  // namespace ttcheck::limits
