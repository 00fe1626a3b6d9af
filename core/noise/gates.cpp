// SPDX-License-Identifier: Apache-2.0
// Nobody needs to say where a ReLU stands, which is a function without a record in many models: the
// gradient directly behind one is zero wherever its value is not positive, and no other is. So a
// gradient that is beyond its limit is held against the forward records that may be such a value:
// those of its own module (a layer that a ReLU follows), of the modules around it (a block that
// ends in one), and of the next op that says it is a ReLU. Nor where a max pooling stands: what is
// the largest of its windows on both sides, to the bit, came out of one.

#include "core/noise/gates.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/interrupted.hpp"
#include "core/base/parent_of.hpp"
#include "core/compare/gated.hpp"
#include "core/compare/pooled.hpp"
#include "core/noise/excuse.hpp"
#include "core/noise/rules.hpp"
#include "core/noise/terms.hpp"
#include "core/noise/wider.hpp"

namespace ttcheck::noise {
namespace {

/// Of all gates that a gradient came through so far, in the mean square.
void add(Through& through, const compare::Gated& gate) {
  through.rel = std::hypot(through.rel, gate.rel);
  through.row = std::hypot(through.row, gate.row);
  through.outlier = std::hypot(through.outlier, gate.outlier);
}

/// A sum of terms of either sign is seldom further from 0 than that many times their root sum
/// square.
constexpr double kDeviations = 3;

bool is_gradient(Kind kind) {
  return kind == Kind::grad_input || kind == Kind::grad_output || is_slope(kind);
}

bool is_value(const TensorResult& result) {
  return result.identity.phase == Phase::forward &&
         (result.kind == Kind::output || result.kind == Kind::input);
}

class Gates : public Excuser {
 public:
  Gates(const StepRecords& step, std::span<const TensorResult> results, const Ask& ask)
      : step_(step), results_(results), ask_(ask) {}

  bool look(TensorResult& result) override {
    if (!is_gradient(result.kind) || !is_open_to_noise(result)) return false;
    const Through through = before(result);
    // Where what came through stands in a gradient, rows and elements tell; what a parameter's
    // makes of it is a sum for each.
    const bool places = !is_slope(result.kind);
    if (!(through.rel > 0) || !is_within(result, through, places)) return false;
    using State = recompute::Recomputed::State;
    if (ask_ && ask_(result).state == State::wrong) return false;
    widen(result, through, kGates, "that gates let through");
    return true;
  }

 private:
  /// A gate, or many of one ReLU, and the gradient directly behind it.
  struct Found {
    std::size_t gradient = 0;
    compare::Gated gate;
  };

  /// All of them in causal order, once they are asked for: most steps have no gradient beyond its
  /// limit.
  void find_gates() {
    if (found_) return;
    found_.emplace();
    for (std::size_t i = 0; i < results_.size(); ++i) {
      if (is_value(results_[i])) values_[module_of(results_[i].identity)].push_back(i);
    }
    std::set<std::pair<std::size_t, bool>> known;  ///< values, of gates and of poolings
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const TensorResult& gradient = results_[i];
      if (!is_gradient(gradient.kind) || is_slope(gradient.kind)) continue;
      if (gradient.kind == Kind::grad_output) {
        terms_[module_of(gradient.identity)] += gradient.metrics.sum_a2;
        gradients_[module_of(gradient.identity)].push_back(i);
      }
      for (const std::size_t value : values_near(gradient)) {
        auto gate = gate_of(results_[value], gradient);
        const bool pool = !gate;
        if (pool) gate = pool_of(value, gradient);
        if (!gate) continue;
        const bool counts = known.emplace(value, pool).second && gate->turned > 0;
        if (counts && std::isfinite(gate->rel)) found_->push_back({i, *gate});
        break;
      }
    }
  }

  std::optional<compare::Gated> gate_of(const TensorResult& value,
                                        const TensorResult& gradient) const {
    if (value.outcome() != Outcome::noise || value.shape != gradient.shape) return std::nullopt;
    const compare::Pair* const of_value = step_.pairs[value.pair].compared;
    const compare::Pair* const of_gradient = step_.pairs[gradient.pair].compared;
    if (of_value == nullptr || of_gradient == nullptr) return std::nullopt;
    try {
      return compare::gated(*of_value, *of_gradient, [] { return interrupted() != 0; });
    } catch (const Error&) {  // it was read well before and cannot be now, or a signal came
      return std::nullopt;
    }
  }

  /// Of a max pooling that the value goes into.
  std::optional<compare::Gated> pool_of(std::size_t value, const TensorResult& gradient) const {
    constexpr int kMostBehind = 4;  // forward records that may be what comes out of it
    const Shape& shape = gradient.shape;
    if (shape.size() != 4 || results_[value].shape != shape) return std::nullopt;
    if (!is_right(results_[value]) || results_[value].metrics.unequal_values == 0) {
      return std::nullopt;
    }
    int looked_at = 0;
    for (std::size_t i = value + 1; i < results_.size() && looked_at < kMostBehind; ++i) {
      const TensorResult& maxima = results_[i];
      if (!is_value(maxima) || maxima.identity.microbatch != gradient.identity.microbatch) continue;
      ++looked_at;
      if (maxima.kind != Kind::output || !is_right(maxima)) continue;
      const auto above = gradients_.find(module_of(maxima.identity));
      if (above == gradients_.end()) continue;
      for (const std::size_t one : above->second) {
        const TensorResult& of_maxima = results_[one];
        if (of_maxima.shape != maxima.shape || !is_of_one_call(of_maxima, maxima)) continue;
        if (auto found = pooled(results_[value], maxima, of_maxima, gradient)) return found;
      }
    }
    return std::nullopt;
  }

  /// Also where it is equal after a cast, which makes equal what was not.
  static bool is_right(const TensorResult& result) {
    return result.outcome() == Outcome::noise || result.outcome() == Outcome::equal;
  }

  static bool is_of_one_call(const TensorResult& a, const TensorResult& b) {
    return a.identity.microbatch == b.identity.microbatch && a.identity.call == b.identity.call;
  }

  std::optional<compare::Gated> pooled(const TensorResult& value, const TensorResult& maxima,
                                       const TensorResult& of_maxima,
                                       const TensorResult& gradient) const {
    const compare::Pair* pairs[4] = {};
    int known = 0;
    for (const TensorResult* one : {&value, &maxima, &of_maxima, &gradient}) {
      pairs[known] = step_.pairs[one->pair].compared;
      if (pairs[known++] == nullptr) return std::nullopt;
    }
    try {
      return compare::pooled({*pairs[0], *pairs[1], *pairs[2], *pairs[3]},
                             [] { return interrupted() != 0; });
    } catch (const Error&) {  // as above
      return std::nullopt;
    }
  }

  /// Forward records of the gradient's micro-batch that may be the value of a gate in front of it.
  std::vector<std::size_t> values_near(const TensorResult& gradient) const {
    std::vector<std::size_t> near;
    const auto take = [&](std::size_t i) {
      if (results_[i].identity.microbatch == gradient.identity.microbatch) near.push_back(i);
    };
    const std::string_view module = module_of(gradient.identity);
    std::string_view within;  // the last that was looked at
    for (std::string_view one = module; one != within; within = one, one = parent_of(one)) {
      const auto found = values_.find(one);
      if (found == values_.end()) continue;
      for (const std::size_t i : found->second) {
        if (one != module || results_[i].identity.call == gradient.identity.call) take(i);
      }
    }
    const auto relu = next_relu(near.empty() ? results_.size() : near.front(), gradient);
    if (relu < results_.size()) near.push_back(relu);
    return near;
  }

  std::size_t next_relu(std::size_t behind, const TensorResult& gradient) const {
    for (std::size_t i = behind; i < results_.size(); ++i) {
      const TensorResult& one = results_[i];
      const bool relu = one.kind == Kind::output && one.trace && one.trace->op == "relu";
      if (relu && one.identity.microbatch == gradient.identity.microbatch &&
          one.shape == gradient.shape) {
        return i;
      }
    }
    return results_.size();
  }

  /// Of the gradient's micro-batch; what a parameter's sums has come from all so far.
  Through before(const TensorResult& result) {
    find_gates();
    std::map<std::int32_t, Through> through;
    for (const Found& one : *found_) {
      const TensorResult& gradient = results_[one.gradient];
      if (&gradient > &result) break;
      add(through[gradient.identity.microbatch], one.gate);
    }
    Through most;
    for (const auto& [microbatch, one] : through) {
      if (!is_slope(result.kind) && microbatch != result.identity.microbatch) continue;
      most.rel = std::max(most.rel, one.rel);
      most.row = std::max(most.row, one.row);
      most.outlier = std::max(most.outlier, one.outlier);
    }
    const double times = (result.kind == Kind::moment2 ? 2 : 1) * cancelled(result);
    return {times * most.rel, times * most.row, times * most.outlier};
  }

  /// How much larger what came through may be beside the gradient of a bias or a scale, in which
  /// the terms cancel, than beside these, which are the gradient of the module's outputs (times
  /// inputs of size 1).
  double cancelled(const TensorResult& result) const {
    if (!is_slope(result.kind) || result.shape.size() > 1) return 1;
    const auto terms = terms_.find(module_of(result.identity));
    const double sum = result.metrics.sum_a2;
    if (terms == terms_.end() || !(sum > 0)) return 1;
    return std::max(1.0, kDeviations * std::sqrt(terms->second / sum));
  }

  const StepRecords& step_;
  std::span<const TensorResult> results_;
  const Ask& ask_;
  std::map<std::string_view, std::vector<std::size_t>, std::less<>> values_;  ///< by module
  std::map<std::string_view, std::vector<std::size_t>> gradients_;  ///< of outputs, seen so far
  std::map<std::string_view, double> terms_;  ///< sums of squares of their gradients, by module
  std::optional<std::vector<Found>> found_;   ///< in causal order; nothing: not asked for
};

}  // namespace

std::unique_ptr<Excuser> along_gates(const StepRecords& step, std::span<const TensorResult> results,
                                     const Ask& ask) {
  return std::make_unique<Gates>(step, results, ask);
}

}  // namespace ttcheck::noise
