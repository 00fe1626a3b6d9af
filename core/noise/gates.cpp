// SPDX-License-Identifier: Apache-2.0
// Nobody needs to say where a ReLU stands, which is a function without a record in many models: the
// gradient directly behind one is zero wherever its value is not positive, and no other is. So a
// gradient that is beyond its limit is held against the forward records that may be such a value:
// those of its own module (a layer that a ReLU follows), of the modules around it (a block that
// ends in one), and of the next op that says it is a ReLU.

#include "core/noise/gates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/interrupted.hpp"
#include "core/base/parent_of.hpp"
#include "core/compare/gated.hpp"
#include "core/noise/excuse.hpp"
#include "core/noise/rules.hpp"
#include "core/noise/terms.hpp"
#include "core/verdict/judge.hpp"

namespace ttcheck::noise {
namespace {

/// Of all gates that a gradient came through so far, in the mean square; as compare::Gated.
struct Through {
  double rel = 0, row = 0, outlier = 0;

  void add(const compare::Gated& gate) {
    rel = std::hypot(rel, gate.rel);
    row = std::hypot(row, gate.row);
    outlier = std::hypot(outlier, gate.outlier);
  }
};

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
    if (!(through.rel > 0) || !fits(result, through)) return false;
    using State = recompute::Recomputed::State;
    if (ask_ && ask_(result).state == State::wrong) return false;
    accept(result, through);
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
    std::set<std::size_t> known;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const TensorResult& gradient = results_[i];
      if (!is_gradient(gradient.kind) || is_slope(gradient.kind)) continue;
      if (gradient.kind == Kind::grad_output) {
        terms_[module_of(gradient.identity)] += gradient.metrics.sum_a2;
      }
      for (const std::size_t value : values_near(gradient)) {
        const auto gate = gate_of(results_[value], gradient);
        if (!gate) continue;
        const bool counts = known.insert(value).second && gate->turned > 0;
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
      through[gradient.identity.microbatch].add(one.gate);
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

  /// Where what came through stands in a gradient, rows and elements tell; what a parameter's makes
  /// of it is a sum for each.
  static bool fits(const TensorResult& result, const Through& through) {
    if (!(result.metrics.rel() <= result.limit.rel + through.rel)) return false;
    if (is_slope(result.kind)) return true;
    if (!result.detail) {
      return result.metrics.max_abs <=
             (result.limit.outlier + through.outlier) * result.metrics.reference_rms();
    }
    return result.detail->row_error <= result.limit.row + through.row &&
           result.detail->outlier <= result.limit.outlier + through.outlier;
  }

  /// Its limit is that of its op, then, and what came through.
  static void accept(TensorResult& result, const Through& through) {
    result.limit.rel += through.rel;
    result.limit.row += through.row;
    result.limit.outlier += through.outlier;
    result.limit.source += fmt::format(" + {:.2g} that gates let through", through.rel);
    verdict::set_test(result, Test::rel, result.metrics.rel(), result.limit.rel);
    excuse(result, kGates, through.rel);
  }

  const StepRecords& step_;
  std::span<const TensorResult> results_;
  const Ask& ask_;
  std::map<std::string_view, std::vector<std::size_t>, std::less<>> values_;  ///< by module
  std::map<std::string_view, double> terms_;  ///< sums of squares of their gradients, by module
  std::optional<std::vector<Found>> found_;   ///< in causal order; nothing: not asked for
};

}  // namespace

std::unique_ptr<Excuser> along_gates(const StepRecords& step, std::span<const TensorResult> results,
                                     const Ask& ask) {
  return std::make_unique<Gates>(step, results, ask);
}

}  // namespace ttcheck::noise
