// SPDX-License-Identifier: Apache-2.0
#include "core/locate/origins.hpp"

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "core/base/name_map.hpp"

namespace ttcheck::locate {
namespace {

bool goes_in(const TensorResult& result) {
  return result.identity.phase == Phase::backward ? result.kind == Kind::grad_output
                                                  : result.kind == Kind::input;
}

/// Within its limit, yet clearly more than any correct run showed: alone it may be chance, behind a
/// record that diverged it is that record's error, diluted.
bool raised(const TensorResult& result) {
  constexpr double kClearly = 2;
  const double rel = result.metrics.rel();
  return result.outcome() == Outcome::noise && result.limit.kind == LimitKind::measured &&
         rel <= result.limit.rel && rel > kClearly * result.limit.measured;
}

bool beside(const TensorResult& a, const TensorResult& b) {
  return a.identity.phase == b.identity.phase && a.identity.microbatch == b.identity.microbatch &&
         a.identity.call == b.identity.call;
}

class Origins {
 public:
  Origins(std::span<const TensorResult> results, std::span<const recompute::Recomputed> recomputed)
      : results_(results), recomputed_(recomputed) {}

  std::vector<Origin> run() {
    for (std::size_t i = 0; i < results_.size(); ++i) {
      origins_.push_back({std::nullopt, i});
      if (results_[i].outcome() == Outcome::diverged) {
        trace_back(i);
        if (!recomputed_.empty()) settle(i, recomputed_[i]);
        if (results_[i].metrics.sum_d2 > 0) by_values_.try_emplace(values_of(results_[i]), i);
      } else if (raised(results_[i])) {
        trace_back(i);
        if (origins_[i].introduced.value_or(true)) origins_[i] = {std::nullopt, i};
      }
      const Identity& identity = results_[i].identity;
      by_name_[identity.name].push_back(i);
      if (!recomputed_.empty()) by_identity_.emplace(identity, i);
      if (goes_in(results_[i])) into_module_[module_of(identity)].push_back(i);
    }
    return std::move(origins_);
  }

 private:
  using Places = NameViewMap<std::vector<std::size_t>>;

  void trace_back(std::size_t i) {
    const TensorResult& result = results_[i];
    if (result.trace && !result.trace->inputs.empty()) {
      for (const std::string& input : result.trace->inputs) {
        const auto [phase, name] = input_identity(input);
        for (const std::size_t before : at(by_name_, name)) {
          if (phase == Phase::none || results_[before].identity.phase == phase) take(i, before);
        }
      }
    } else if (!recomputed_.empty() && !recomputed_[i].inputs.empty()) {
      for (const Identity& input : recomputed_[i].inputs) {
        const auto before = by_identity_.find(input);
        if (before != by_identity_.end()) take(i, before->second);
      }
    } else if (goes_in(result)) {
      const auto same = by_values_.find(values_of(result));
      if (same != by_values_.end()) take(i, same->second);
    } else {
      for (const std::size_t before : at(into_module_, module_of(result.identity))) {
        if (beside(results_[before], result)) take(i, before);
      }
    }
  }

  void settle(std::size_t i, const recompute::Recomputed& recomputed) {
    const auto repeated =
        recomputed.repeats ? by_identity_.find(*recomputed.repeats) : by_identity_.end();
    if (repeated != by_identity_.end()) {
      origins_[i] = {false, origins_[repeated->second].root};
      return;
    }
    if (recomputed.state == recompute::Recomputed::State::wrong) origins_[i] = {true, i};
    if (recomputed.state == recompute::Recomputed::State::right) origins_[i].introduced = false;
  }

  /// What two records have alike, on both sides, if they are of one tensor.
  using Values = std::tuple<std::int64_t, double, double, double>;
  static Values values_of(const TensorResult& result) {
    const Metrics& m = result.metrics;
    return {m.count, m.sum_a2, m.sum_b2, m.sum_d2};
  }

  static std::span<const std::size_t> at(const Places& places, std::string_view name) {
    const auto found = places.find(name);
    if (found == places.end()) return {};
    return found->second;
  }

  /// The first input that is beyond its limit leads on.
  void take(std::size_t i, std::size_t input) {
    Origin& origin = origins_[i];
    const bool carries = origins_[input].introduced.has_value();
    const bool bad = carries || results_[input].outcome() == Outcome::diverged;
    if (!origin.introduced.value_or(true)) return;
    origin.introduced = !bad;
    if (bad) origin.root = origins_[input].root;
  }

  std::span<const TensorResult> results_;
  std::span<const recompute::Recomputed> recomputed_;
  std::vector<Origin> origins_;
  Places by_name_, into_module_;
  std::unordered_map<Identity, std::size_t, IdentityHash> by_identity_;
  std::map<Values, std::size_t> by_values_;  ///< of diverged results, the first of each
};

}  // namespace

std::vector<Origin> origins_of(std::span<const TensorResult> results,
                               std::span<const recompute::Recomputed> recomputed) {
  return Origins(results, recomputed).run();
}

}  // namespace ttcheck::locate
