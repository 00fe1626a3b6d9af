// SPDX-License-Identifier: Apache-2.0
// The candidates are walked once; a state says how many ids of each group have theirs. States that
// lead to the end are counted from the end backwards, so that an assignment that no other fits
// beside is known to be the only one, and the first is found without turning back. Groups of alike
// layers make many states: past a budget each group takes the first candidates that fit.

#include "formats/torch/groups.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

namespace ttcheck::formats {
namespace {

constexpr std::size_t kBudget = std::size_t{1} << 18;  ///< numbers in all states, beside
constexpr std::size_t kBudgetEach = 64;                ///< those that every candidate adds

bool fits(const Shape& state, const Shape& parameter) {
  return state == kAnyShape || state == parameter;
}

using Groups = std::vector<std::vector<Shape>>;
using Assignment = std::vector<std::vector<std::size_t>>;
using Taken = std::vector<std::uint32_t>;  ///< ids of each group that have their candidate

class Deal {
 public:
  Deal(const Groups& shapes, const std::vector<Candidate>& parameters)
      : shapes_(shapes), parameters_(parameters) {
    for (const auto& group : shapes) ids_ += group.size();
  }

  /// False when that takes too many states.
  bool walk() {
    if (ids_ > parameters_.size()) return true;
    std::size_t left = kBudget + kBudgetEach * parameters_.size();
    levels_.push_back({{Taken(shapes_.size(), 0), 0}});
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
      Level& next = levels_.emplace_back();
      for (const auto& [taken, ways] : levels_[k]) {
        const std::size_t cost = 1 + shapes_.size();
        each_next(k, taken, [&](const Taken& after, std::size_t) { next.try_emplace(after, 0); });
        if (next.size() > left / cost) return false;
      }
      left -= next.size() * (1 + shapes_.size());
    }
    count_ways();
    return true;
  }

  /// Assignments that fit: none, one, or several (2).
  int ways() const { return ids_ > parameters_.size() ? 0 : levels_[0].begin()->second; }

  Assignment first() const {
    Assignment found(shapes_.size());
    Taken taken = levels_[0].begin()->first;
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
      std::optional<std::pair<Taken, std::size_t>> step;
      each_next(k, taken, [&](const Taken& after, std::size_t group) {
        if (!step && levels_[k + 1].at(after) > 0) step.emplace(after, group);
      });
      if (step->second < found.size()) found[step->second].push_back(k);
      taken = std::move(step->first);
    }
    return found;
  }

 private:
  using Level = std::map<Taken, int>;

  /// What may follow: the candidate goes to the next id of a group, or, as a frozen one, to none.
  template <typename Use>
  void each_next(std::size_t k, const Taken& taken, const Use& use) const {
    Taken after = taken;
    std::size_t sum = 0;
    for (std::size_t g = 0; g < shapes_.size(); ++g) {
      sum += taken[g];
      if (taken[g] == shapes_[g].size() || !fits(shapes_[g][taken[g]], parameters_[k].shape)) {
        continue;
      }
      ++after[g];
      use(after, g);
      --after[g];
    }
    if (k - sum < parameters_.size() - ids_) use(after, shapes_.size());
  }

  void count_ways() {
    for (auto& [taken, ways] : levels_.back())
      ways = 1;  // all candidates went, so all ids have one
    for (std::size_t k = parameters_.size(); k-- > 0;) {
      for (auto& [taken, ways] : levels_[k]) {
        int sum = 0;
        each_next(k, taken,
                  [&](const Taken& after, std::size_t) { sum += levels_[k + 1].at(after); });
        ways = std::min(sum, 2);
      }
    }
  }

  const Groups& shapes_;
  const std::vector<Candidate>& parameters_;
  std::size_t ids_ = 0;
  std::vector<Level> levels_;  ///< before each candidate, and behind the last
};

/// Indices of the free candidates that fit the shapes, in order, taking the first that does.
/// Nothing when they do not.
std::optional<std::vector<std::size_t>> subsequence(const std::vector<Shape>& shapes,
                                                    const std::vector<Candidate>& parameters,
                                                    const std::vector<bool>& taken) {
  std::vector<std::size_t> found;
  for (std::size_t p = 0; p < parameters.size() && found.size() < shapes.size(); ++p) {
    if (!taken[p] && fits(shapes[found.size()], parameters[p].shape)) found.push_back(p);
  }
  if (found.size() < shapes.size()) return std::nullopt;
  return found;
}

Assignment take_first(const Groups& shapes, const std::vector<Candidate>& parameters) {
  std::vector<bool> taken(parameters.size(), false);
  Assignment found;
  for (const std::vector<Shape>& group : shapes) {
    const auto first = subsequence(group, parameters, taken);
    if (!first) return {};
    for (const std::size_t p : *first) taken[p] = true;
    found.push_back(*first);
  }
  return found;
}

}  // namespace

std::vector<std::vector<std::size_t>> match_groups(const std::vector<std::vector<Shape>>& shapes,
                                                   const std::vector<Candidate>& parameters,
                                                   bool& ambiguous) {
  Deal deal(shapes, parameters);
  if (!deal.walk()) {
    ambiguous = true;
    return take_first(shapes, parameters);
  }
  if (deal.ways() == 0) return {};
  if (deal.ways() > 1) ambiguous = true;
  return deal.first();
}

}  // namespace ttcheck::formats
