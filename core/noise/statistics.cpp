#include "core/noise/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/noise/evidence.hpp"
#include "core/noise/excuse.hpp"
#include "core/noise/parameter_place.hpp"
#include "core/noise/rules.hpp"

namespace ttcheck::noise {
namespace {

bool is_state(const Tensor& tensor) {
  return tensor.kind == Kind::weight && tensor.identity.phase == Phase::state;
}

/// Whether no element need be apart by more than `most`.
bool are_within(const StoredStats& a, const StoredStats& b, double most) {
  const double count = static_cast<double>(std::max<std::int64_t>(a.numel, 1));
  return extremes_apart(a, b) <= most &&
         (!a.mean || !b.mean || std::abs(*b.mean - *a.mean) <= most) &&
         (!a.l2 || !b.l2 || std::abs(*b.l2 - *a.l2) <= most * std::sqrt(count));
}

class Settling {
 public:
  Settling(const StepRecords& step, const Terms& terms, const Carried& carried)
      : step_(step), terms_(terms) {
    std::map<std::string, const Tensor*> weights;
    for (const auto& [name, one] : carried.parameters[0]) {
      const bool slope = is_slope(one.tensor.kind);
      (slope ? before_[0] : weights)
          .emplace(slope ? parameter_place(one.tensor) : name, &one.tensor);
    }
    for (const auto& one : std::views::values(carried.parameters[1])) {
      if (is_slope(one.tensor.kind)) before_[1].emplace(parameter_place(one.tensor), &one.tensor);
    }
    double longest = 0;
    for (const RecordPair& pair : step.pairs) {
      const Tensor& now = *pair.reference;
      const StoredStats* const stats = statistics_alone(now);
      if (stats == nullptr) continue;
      const auto then = is_state(now) ? weights.find(now.identity.name) : weights.end();
      const StoredStats* const old =
          then == weights.end() ? nullptr : statistics_alone(*then->second);
      if (old != nullptr) longest = std::max(longest, extremes_apart(*old, *stats));
    }
    most_ = 2 * longest * (step.updates - 1);
  }

  void settle(TensorResult& result) {
    if (!is_open_to_noise(result) || !(most_ > 0) || !std::isfinite(most_)) return;
    const auto& [reference, candidate, compared] = step_.pairs[result.pair];
    const StoredStats* const a = statistics_alone(*reference);
    const StoredStats* const b = statistics_alone(*candidate);
    if (a == nullptr || b == nullptr) return;
    const std::string module(module_of(result.identity));
    if (is_state(*reference)) {
      if (!along_noise(result) || !are_within(*a, *b, most_)) return;
      modules_.insert(module);
      accept(result, kStands,
             "its gradient was noise, and it is apart by no more than its updates");
    } else if (result.kind == Kind::output && modules_.contains(module)) {
      const double own = result.limit.rel * std::max(std::abs(a->min), std::abs(a->max));
      if (are_within(*a, *b, most_ + own)) accept(result, kAdded, "less what its bias differs by");
    }
  }

  std::int64_t settled() const { return settled_; }

 private:
  bool along_noise(const TensorResult& result) const {
    const std::string place = parameter_place(result.identity.name);
    const auto left = before_[0].find(place);
    const auto right = before_[1].find(place);
    if (left == before_[0].end() || right == before_[1].end()) return false;
    const auto roundoff = terms_.roundoff(*left->second, result.limit.op);
    const auto sizes = sizes_of({}, {left->second, right->second});
    return roundoff && sizes && may_be_roundoff(*sizes, *roundoff);
  }

  void accept(TensorResult& result, std::string_view rule, const std::string& why) {
    ++settled_;
    result.limit.source += "; " + why;
    excuse(result, rule, most_);
  }

  const StepRecords& step_;
  const Terms& terms_;
  std::array<std::map<std::string, const Tensor*>, 2> before_;  ///< gradients of the step before
  std::set<std::string> modules_;                               ///< whose bias was settled
  double most_ = 0;
  std::int64_t settled_ = 0;
};

}  // namespace

bool settle_statistics(const StepRecords& step, std::span<TensorResult> results, const Terms& terms,
                       const Carried& carried) {
  const bool known = !carried.parameters[0].empty() && !carried.parameters[1].empty();
  if (!step.trace || !known || std::ranges::none_of(results, is_open_to_noise)) return false;
  Settling settling(step, terms, carried);
  for (TensorResult& result : results) settling.settle(result);
  return settling.settled() > 0;
}

}  // namespace ttcheck::noise
