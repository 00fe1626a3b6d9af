// SPDX-License-Identifier: Apache-2.0
#include "core/noise/calls.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/name_map.hpp"
#include "core/model/attributes.hpp"
#include "core/noise/evidence.hpp"
#include "core/noise/excuse.hpp"
#include "core/noise/gradients.hpp"
#include "core/noise/passed_on.hpp"
#include "core/noise/rules.hpp"

namespace ttcheck::noise {
namespace {

constexpr double kSquare = 2;  // limits

constexpr std::string_view kMadeWords = "; it is what such a gradient made";
constexpr double kPrinted = 1e-6;  ///< statistics of the same values in another order

/// Whether prints are of the same values on each side, if in another order.
bool are_alike(const Print& a, const Print& b) {
  return std::ranges::equal(a, b, [](double x, double y) {
    return std::abs(x - y) <= kPrinted * std::max(std::abs(x), std::abs(y));
  });
}

/// Whether an optimizer's update is short enough: a square is beyond the limit by what a square may
/// be; a quotient of two sums of gradients, which both may be next to nothing, by no more than
/// twice the factor that the call states, and by little where statistics alone are known. With
/// values, the op is recomputed.
bool is_short_update(const TensorResult& result, const Tensor& reference, const Tensor& candidate) {
  const TraceRecord& record = *reference.trace;
  if (record.op == "addcmul") return result.ratio <= kSquare;
  const auto factor = Attributes(record.attrs).number("value");
  if (record.op != "addcdiv" || !factor || !candidate.trace) return false;
  if (Attributes(candidate.trace->attrs).number("value") != factor) return false;
  double apart = result.metrics.max_abs;
  if (!reference.stored || !candidate.stored) {
    const auto& a = record.stats;
    const auto& b = candidate.trace->stats;
    if (!a || !b || result.ratio > kLittle) return false;
    apart = extremes_apart(*a, *b);
  }
  return apart <= 2 * std::abs(*factor);
}

class Calls : public Excuser {
 public:
  Calls(const StepRecords& step, const Terms& terms, const std::vector<Print>& carried)
      : step_(step), sizes_(terms), prints_(carried) {
    std::vector<const Tensor*> inputs;
    for (const RecordPair& pair : step.pairs) {
      const Tensor& reference = *pair.reference;
      if (!is_counted(reference)) continue;
      any_ = true;
      const bool may = reference.kind == Kind::input && is_call_in_place(reference);
      if (may) inputs.push_back(&reference);
    }
    find_terms(std::move(inputs));
  }

  bool look(TensorResult& result) override {
    const auto& [reference, candidate, compared] = step_.pairs[result.pair];
    if (!is_counted(*reference)) return false;
    const std::string_view module = module_of(result.identity);
    if (call_ != module) begin(module);
    if (!is_open_to_noise(result)) return false;
    if (result.kind != Kind::output) return take(result, *reference, *candidate);
    if (otherwise_) return false;
    if (is_short_update(result, *reference, *candidate)) {
      result.limit.source += "; what went in is within its limit, and an update is no longer";
    } else if (by_chance_) {
      result.limit.source += "; what went in is a gradient that is zero but for round-off";
    } else {
      return false;
    }
    accept(result, *reference, *candidate);
    return true;
  }

  /// What modules around the calls put out, which may be told before the calls.
  bool finish(std::span<TensorResult> results, Carried& carried) override {
    if (!any_) return false;
    bool any = false;
    for (TensorResult& result : results) {
      const auto& [reference, candidate, compared] = step_.pairs[result.pair];
      if (!is_counted(*reference) || !is_open_to_noise(result)) continue;
      if (!is_known(print_of(result, *reference, *candidate))) continue;
      result.limit.source += kMadeWords;
      accept(result, *reference, *candidate);
      any = true;
    }
    carried.prints = std::move(left_);
    return any;
  }

 private:
  void begin(std::string_view module) {
    call_ = module;
    by_chance_ = otherwise_ = false;
  }

  /// Finds for each input of a call in place the same input of the call before, where that is of a
  /// weight.
  void find_terms(std::vector<const Tensor*> inputs) {
    std::ranges::stable_sort(inputs, {}, [](const Tensor* input) { return input->trace->seq; });
    NameMap<const Tensor*> last;  // by op and input
    for (const Tensor* const own : inputs) {
      const std::size_t slot = own->identity.name.rfind('/') + 1;
      const Tensor*& there = last[own->trace->counted.base + own->identity.name.substr(slot)];
      const Tensor* const before = std::exchange(there, own);
      const bool beside = before != nullptr && own->shape.size() == 1 && before->shape.size() > 1 &&
                          before->shape.front() == own->shape.front();
      if (beside) terms_.emplace(own, before);
    }
  }

  bool take(TensorResult& result, const Tensor& reference, const Tensor& candidate) {
    const auto terms = terms_.find(&reference);
    const auto print = print_of(result, reference, candidate);
    if (is_known(print)) {
      result.limit.source += kMadeWords;
      accept(result, reference, candidate);
    } else if (terms != terms_.end() && by_terms(result, *terms->second)) {
      remember(print);
    } else {
      otherwise_ = true;
    }
    return result.allowance.has_value();
  }

  bool by_terms(TensorResult& result, const Tensor& weight) const {
    const auto roundoff = sizes_.roundoff_beside(weight, result.limit.op);
    return roundoff && excuse_by_terms(result, step_.pairs[result.pair], *roundoff);
  }

  void accept(TensorResult& result, const Tensor& reference, const Tensor& candidate) {
    const auto print = print_of(result, reference, candidate);
    excuse(result, kMade, result.metrics.max_abs);
    remember(print);
    const bool update = result.kind == Kind::output && is_call_in_place(reference);
    if (print && update) left_.push_back(*print);
  }

  void remember(const std::optional<Print>& print) {
    if (print) prints_.push_back(*print);
    by_chance_ = true;
  }

  bool is_known(const std::optional<Print>& print) const {
    return print && std::ranges::any_of(
                        prints_, [&](const Print& known) { return are_alike(known, *print); });
  }

  static std::optional<Print> print_of(const TensorResult& result, const Tensor& reference,
                                       const Tensor& candidate) {
    const Metrics& values = result.metrics;
    Print print{values.sum_a2, values.sum_b2, values.sum_d2, 0, 0, 0};
    if (!reference.stored || !candidate.stored) {
      const auto& a = reference.trace->stats;
      const auto* const trace = candidate.trace.get();
      const bool both = a && a->l2 && trace != nullptr && trace->stats && trace->stats->l2;
      if (!both) return std::nullopt;
      const StoredStats& b = *trace->stats;
      print = {*a->l2, *b.l2, a->min, b.min, a->max, b.max};
    }
    const auto finite = [](double value) { return std::isfinite(value); };
    return std::ranges::all_of(print, finite) ? std::optional(print) : std::nullopt;
  }

  const StepRecords& step_;
  const Terms& sizes_;
  bool any_ = false;                                        ///< records of counted ops
  std::unordered_map<const Tensor*, const Tensor*> terms_;  ///< of a bias's input, its weight's
  std::vector<Print> prints_;                               ///< of what was settled
  std::vector<Print> left_;                                 ///< of what calls in place put out
  std::string_view call_;                                   ///< the one whose records are looked at
  bool by_chance_ = false, otherwise_ = false;              ///< what went into it
};

}  // namespace

bool is_call_in_place(const Tensor& tensor) {
  if (!tensor.trace) return false;
  const std::string_view base = tensor.trace->counted.base;
  const std::size_t end = base.find("_.");
  return end != std::string_view::npos && end > 0 && base[end - 1] != '_';
}

std::unique_ptr<Excuser> along_calls(const StepRecords& step, const Terms& terms,
                                     const Carried& carried) {
  return std::make_unique<Calls>(step, terms, carried.prints);
}

}  // namespace ttcheck::noise
