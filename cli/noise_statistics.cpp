#include "cli/noise_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <ranges>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/as_noise.hpp"
#include "cli/noise_gradients.hpp"
#include "cli/parameter_place.hpp"
#include "cli/steps.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::cli {
namespace {

bool is_state(const Tensor& tensor) {
  return tensor.kind == Kind::weight && tensor.identity.phase == Phase::state;
}

/// The most by which an element of both is apart at least.
double extremes_apart(const StoredStats& a, const StoredStats& b) {
  return std::max(std::abs(b.min - a.min), std::abs(b.max - a.max));
}

/// Whether no element need be apart by more than `most`.
bool are_within(const StoredStats& a, const StoredStats& b, double most) {
  const double count = static_cast<double>(std::max<std::int64_t>(a.numel, 1));
  return extremes_apart(a, b) <= most &&
         (!a.mean || !b.mean || std::abs(*b.mean - *a.mean) <= most) &&
         (!a.l2 || !b.l2 || std::abs(*b.l2 - *a.l2) <= most * std::sqrt(count));
}

using Two = std::pair<const Tensor*, const Tensor*>;  ///< reference, candidate

class Settling {
 public:
  Settling(const MetStep& met, double updates, const DiffContext& context, Verdict& verdict)
      : verdict_(verdict) {
    std::map<std::string, const Tensor*> weights;
    for (const auto& [name, one] : context.parameters[0]) {
      const bool slope = is_slope(one.tensor.kind);
      (slope ? before_[0] : weights)
          .emplace(slope ? parameter_place(one.tensor) : name, &one.tensor);
    }
    for (const auto& one : std::views::values(context.parameters[1])) {
      if (is_slope(one.tensor.kind)) before_[1].emplace(parameter_place(one.tensor), &one.tensor);
    }
    double longest = 0;
    const std::vector<Tensor>& candidates = met.sides->back().assembly.tensors;
    for (const align::PairIndex& pair : met.alignment.pairs) {
      const Tensor& now = met.sides->front().assembly.tensors[pair.reference];
      const StoredStats* const stats = statistics_alone(now);
      if (stats == nullptr) continue;
      pairs_.emplace(now.identity, Two(&now, &candidates[pair.candidate]));
      const auto then = is_state(now) ? weights.find(now.identity.name) : weights.end();
      const StoredStats* const old =
          then == weights.end() ? nullptr : statistics_alone(*then->second);
      if (old != nullptr) longest = std::max(longest, extremes_apart(*old, *stats));
    }
    most_ = 2 * longest * updates;
  }

  void settle(TensorResult& result) {
    const auto pair = is_open_to_noise(result) ? pairs_.find(result.identity) : pairs_.end();
    if (pair == pairs_.end() || !(most_ > 0) || !std::isfinite(most_)) return;
    const auto [reference, candidate] = pair->second;
    const StoredStats* const a = statistics_alone(*reference);
    const StoredStats* const b = statistics_alone(*candidate);
    if (a == nullptr || b == nullptr) return;
    const std::string module(module_of(result.identity));
    if (is_state(*reference)) {
      if (!along_noise(result) || !are_within(*a, *b, most_)) return;
      modules_.insert(module);
      accept(result, "its gradient was noise, and it is apart by no more than its updates");
    } else if (result.kind == Kind::output && modules_.contains(module)) {
      const double own = result.limit.rel * std::max(std::abs(a->min), std::abs(a->max));
      if (are_within(*a, *b, most_ + own)) accept(result, "less what its bias differs by");
    }
  }

  std::int64_t settled() const { return settled_; }

 private:
  bool along_noise(const TensorResult& result) const {
    const std::string place = parameter_place(result.identity.name);
    const auto left = before_[0].find(place);
    const auto right = before_[1].find(place);
    if (left == before_[0].end() || right == before_[1].end()) return false;
    const auto terms = before_[0].find(weight_place(place).value_or(""));
    return terms != before_[0].end() &&
           is_noise_by_statistics(*left->second, *right->second, *terms->second, result.limit);
  }

  void accept(TensorResult& result, const std::string& why) {
    ++settled_;
    result.limit.source += "; " + why;
    count_as_noise(result, verdict_);
  }

  Verdict& verdict_;
  std::array<std::map<std::string, const Tensor*>, 2> before_;  ///< gradients of the step before
  std::unordered_map<Identity, Two, IdentityHash> pairs_;
  std::set<std::string> modules_;  ///< whose bias was settled
  double most_ = 0;
  std::int64_t settled_ = 0;
};

}  // namespace

bool settle_noise_statistics(const MetStep& met, std::span<TensorResult> results,
                             const StepPair& steps, const DiffContext& context, Verdict& verdict) {
  const bool known = !context.parameters[0].empty() && !context.parameters[1].empty();
  if (!met.trace || !known || std::ranges::none_of(results, is_open_to_noise)) return false;
  Settling settling(met, updates_made(context.reference, steps) - 1, context, verdict);
  for (TensorResult& result : results) settling.settle(result);
  if (settling.settled() == 0) return false;
  verdict.findings.push_back(verdict::note(
      Code::unmeasured_noise, steps.step,
      fmt::format("{} records of statistics differ only because gradients that are zero but for "
                  "round-off were stepped along",
                  settling.settled())));
  return true;
}

}  // namespace ttcheck::cli
