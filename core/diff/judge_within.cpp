// SPDX-License-Identifier: Apache-2.0
#include "core/diff/judge_within.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/interrupted.hpp"
#include "core/base/name_map.hpp"
#include "core/diff/logged_norm.hpp"
#include "core/locate/stale.hpp"
#include "core/recompute/recompute.hpp"
#include "core/verdict/judge.hpp"

namespace ttcheck::diff {
namespace {

constexpr double kLeastWork = 1e8;    // multiplications for one step
constexpr double kWorkOfElement = 1;  // or for each element that was compared, if that is more
constexpr double kRow = 2;            // of a row and of an element, in what a tensor may have
constexpr double kOutlier = 4;

bool is_noise(const TensorResult& result) {
  const LimitKind kind = result.limit.kind;
  return result.outcome() == Outcome::noise &&
         (kind == LimitKind::model || kind == LimitKind::measured);
}

/// `<module>/<slot>` of a parameter or its gradient.
std::string slot_of(const Identity& identity) {
  const std::string& name = identity.name;
  const std::size_t slash = name.rfind('/');
  const std::size_t dot = slash == std::string::npos ? slash : name.find('.', slash);
  if (dot == std::string::npos) return name;
  return fmt::format("{}/{}", name.substr(0, slash), name.substr(dot + 1));
}

/// Errors that have nothing to do with each other add up, so what an op is wrong by lies between
/// the two sides as well.
bool may_be_wrong(const compare::Pair& pair, const TensorResult& result) {
  if (recompute::held_by_size(*pair.reference) && result.metrics.unequal_values > 0) return true;
  Limit least;
  least.kind = LimitKind::model;
  least.rel = recompute::least_clear(result.candidate_dtype);
  least.row = kRow * least.rel;
  least.outlier = kOutlier * least.rel;
  return verdict::needs_detail(*pair.reference, result.metrics, least);
}

class WrongWithin {
 public:
  WrongWithin(const MetStep& met, std::span<TensorResult> results)
      : met_(met), results_(results), found_(results.size()) {}

  void find_ops() {
    const std::vector<std::size_t> turn = nearest_first();
    if (turn.empty()) return;
    double work = 0;
    for (const TensorResult& result : results_) {
      work += kWorkOfElement * static_cast<double>(result.metrics.count);
    }
    recompute::Recompute recompute(
        met_.graphs->reference, met_.graphs->candidate, [] { return interrupted() != 0; },
        std::max(kLeastWork, work));
    for (const std::size_t i : turn) {
      const compare::Pair& pair = *plain_pair(results_[i]);
      recompute::Recomputed one =
          recompute.judge(*pair.reference, *pair.candidate, worst_index(results_[i].metrics));
      const TensorResult& result = results_[i];
      const bool further = one.turned_bit || result.metrics.rel() > result.limit.measured;
      if (one.state != recompute::Recomputed::State::wrong || !one.clear || !further) continue;
      condemn(i, Test::recomputed, one.error, one.limit, one.ranks);
      found_[i] = std::move(one);
    }
  }

  void find_unmoved() {
    NameMap<const TensorResult*> before;
    NameSet zero;  // gradients
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const TensorResult& result = results_[i];
      const Phase phase = result.identity.phase;
      const bool gradient = result.kind == Kind::main_grad || result.kind == Kind::grad;
      if (gradient && result.metrics.sum_b2 == 0) zero.insert(slot_of(result.identity));
      if (!is_parameter(result.kind)) continue;
      if (phase == Phase::state) before.emplace(result.identity.name, &result);
      const auto own = before.find(result.identity.name);
      if (phase != Phase::optimizer || own == before.end() || !is_noise(result)) continue;
      if (plain_pair(result) == nullptr || zero.contains(slot_of(result.identity))) continue;
      if (!locate::unmoved(*own->second, result)) continue;
      condemn(i, Test::unmoved, result.metrics.rel(), result.limit.rel, {});
    }
  }

  void find_norm() {
    const auto logged = locate::logged_norm(results_);
    const auto norm = logged ? checked_norm(met_, results_, *logged) : std::nullopt;
    if (!norm) return;
    const TensorResult& record = results_[*logged->record];
    const bool wrong = norm->error > norm->limit;
    if (!wrong && record.outcome() != Outcome::diverged) return;
    recompute::Recomputed& told = found_[*logged->record];
    told.state = wrong ? recompute::Recomputed::State::wrong : recompute::Recomputed::State::right;
    told.op = "the norm of the gradients";
    told.error = norm->error;
    told.limit = norm->limit;
    told.clear = wrong;
    told.norm = true;
    if (wrong && is_noise(record) && plain_pair(record) != nullptr) {
      condemn(*logged->record, Test::recomputed, norm->error, norm->limit, record.wrong_ranks);
    }
  }

  std::vector<recompute::Recomputed> take() { return std::move(found_); }

 private:
  /// Null where its bytes were not compared, or as a map makes them.
  const compare::Pair* plain_pair(const TensorResult& result) const {
    const compare::Pair* const pair = met_.compared(result);
    return pair == nullptr || pair->mapped() ? nullptr : pair;
  }

  std::vector<std::size_t> nearest_first() const {
    std::vector<std::size_t> turn;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const Phase phase = results_[i].identity.phase;
      const bool made = phase == Phase::forward || phase == Phase::loss || phase == Phase::backward;
      const compare::Pair* const pair = plain_pair(results_[i]);
      if (!made || !is_noise(results_[i]) || pair == nullptr) continue;
      if (may_be_wrong(*pair, results_[i])) turn.push_back(i);
    }
    std::ranges::stable_sort(turn, std::ranges::greater{},
                             [&](std::size_t i) { return results_[i].ratio; });
    return turn;
  }

  void condemn(std::size_t i, Test test, double error, double allowed,
               const std::vector<std::int32_t>& ranks) {
    const compare::Pair& pair = *plain_pair(results_[i]);
    results_[i] = verdict::as_wrong_by_itself(*pair.reference, *pair.candidate,
                                              std::move(results_[i]), test, error, allowed, ranks);
  }

  const MetStep& met_;
  std::span<TensorResult> results_;
  std::vector<recompute::Recomputed> found_;
};

}  // namespace

std::vector<recompute::Recomputed> condemn_within_limits(const MetStep& met,
                                                         std::span<TensorResult> results,
                                                         const DiffContext& context) {
  WrongWithin wrong(met, results);
  if (met.graphs && context.how.recompute) {
    wrong.find_ops();
    wrong.find_unmoved();
    wrong.find_norm();
  }
  return wrong.take();
}

}  // namespace ttcheck::diff
