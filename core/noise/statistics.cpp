// SPDX-License-Identifier: Apache-2.0
#include "core/noise/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <ranges>
#include <set>
#include <string>

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

class Statistics : public Excuser {
 public:
  Statistics(const StepRecords& step, const Terms& terms, const Carried& carried)
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

  bool look(TensorResult& result) override {
    if (result.allowance && result.allowance->rule == kStands) {  // when a part was walked along
      modules_.emplace(module_of(result.identity));
    }
    if (!is_open_to_noise(result) || !(most_ > 0) || !std::isfinite(most_)) return false;
    const auto& [reference, candidate, compared] = step_.pairs[result.pair];
    const StoredStats* const a = statistics_alone(*reference);
    const StoredStats* const b = statistics_alone(*candidate);
    if (a == nullptr || b == nullptr) return false;
    const std::string module(module_of(result.identity));
    if (is_state(*reference)) {
      if (!along_noise(result) || !are_within(*a, *b, most_)) return false;
      modules_.insert(module);
      return accept(result, kStands,
                    "its gradient was noise, and it is apart by no more than its updates");
    }
    if (result.kind != Kind::output || !modules_.contains(module)) return false;
    const double own = result.limit.rel * std::max(std::abs(a->min), std::abs(a->max));
    return are_within(*a, *b, most_ + own) &&
           accept(result, kAdded, "less what its bias differs by");
  }

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

  bool accept(TensorResult& result, std::string_view rule, const std::string& why) const {
    result.limit.source += "; " + why;
    excuse(result, rule, most_);
    return true;
  }

  const StepRecords& step_;
  const Terms& terms_;
  std::array<std::map<std::string, const Tensor*>, 2> before_;  ///< gradients of the step before
  std::set<std::string> modules_;                               ///< whose bias was settled
  double most_ = 0;
};

}  // namespace

std::unique_ptr<Excuser> along_statistics(const StepRecords& step, const Terms& terms,
                                          const Carried& carried) {
  return std::make_unique<Statistics>(step, terms, carried);
}

}  // namespace ttcheck::noise
