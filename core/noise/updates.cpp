// SPDX-License-Identifier: Apache-2.0
#include "core/noise/updates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/base/interrupted.hpp"
#include "core/compare/unsettled.hpp"
#include "core/limits/model.hpp"
#include "core/noise/excuse.hpp"
#include "core/noise/parameter_place.hpp"
#include "core/noise/rules.hpp"
#include "core/noise/update_length.hpp"
#include "core/verdict/judge.hpp"

namespace ttcheck::noise {
namespace {

class Updates : public Excuser {
 public:
  Updates(const StepRecords& records, std::span<TensorResult> results, const Terms& terms,
          Excuser& of_gradients, Carried& carried)
      : records_(records),
        results_(results),
        terms_(terms),
        of_gradients_(of_gradients),
        carried_(carried),
        part_(new_part(records)) {}

  bool look(TensorResult& result) override {
    // The step may be walked along in parts.
    if (result.allowance && result.allowance->rule == kAdded) outputs_.insert(values_of(result));
    if (!is_open_to_noise(result) && !may_go_on(result, part_)) return false;
    const compare::Pair* const pair = records_.pairs[result.pair].compared;
    if (pair == nullptr || !knows_updates()) return false;
    const Phase phase = result.identity.phase;
    if (is_parameter(result.kind) && phase == Phase::optimizer) {
      const double step = step_ + unrecorded(result.identity.name);
      return settle_parameter(result, *pair, step,
                              times_ > 0 ? std::string("were updated by multiples of what is "
                                                       "round-off")
                                         : fmt::format("whose gradient is noise may differ by "
                                                       "{:.3g}, twice the longest update",
                                                       step));
    }
    if (is_parameter(result.kind) && phase == Phase::state) {
      if (is_as_left(result)) return settle_left(result, *pair);
      const auto slope = slope_before(*pair);
      return settle_parameter(result, *pair, (slope ? since_ : updates_) * step_,
                              "differ since updates whose gradient was noise",
                              slope ? &*slope : nullptr);
    }
    if (phase == Phase::forward && result.kind == Kind::output) {
      return settle_output(result, *pair);
    }
    return phase == Phase::forward && result.kind == Kind::input && settle_input(result);
  }

 private:
  /// How long an update is, and which gradients it went along: asked once something is open.
  bool knows_updates() {
    if (known_) return *known_;
    const auto length = longest_update(records_, carried_);
    known_ = length.has_value();
    if (!length) return false;
    step_ = 2 * length->most;
    times_ = 2 * length->times;
    // What updates that nobody compared left: of steps before the first one, and where updates are
    // told by the next step's state.
    const bool unseen = records_.first_step ? records_.updates > 1 : !records_updates(records_);
    updates_ = records_.alone || unseen ? records_.updates : 0;
    find_records();
    return true;
  }

  void find_records() {
    for (const RecordPair& pair : records_.pairs) {
      if (pair.compared == nullptr) continue;
      const Tensor& tensor = *pair.reference;
      if (is_parameter_gradient(tensor.kind)) {
        gradients_[parameter_place(tensor)] = pair.compared;  // the last one counts
      }
      if (tensor.kind == Kind::moment1) moments_[parameter_place(tensor)] = pair.compared;
      if (tensor.identity.phase == Phase::state) states_.insert(tensor.identity.name);
    }
    for (TensorResult& one : results_) {
      if (is_parameter_gradient(one.kind) || one.kind == Kind::moment1)
        judged_.emplace(records_.pairs[one.pair].reference, &one);
    }
    for (std::size_t side = 0; side < before_.size(); ++side) {
      for (const auto& one : std::views::values(carried_.parameters[side])) {
        if (one.step && records_.step) {
          since_ = std::min(since_, static_cast<double>(*records_.step - *one.step));
        }
        if (one.tensor.kind == Kind::weight) continue;
        before_[side].emplace(parameter_place(one.tensor), &one.tensor);
      }
    }
  }

  /// Whether the step before recorded what its update left of the parameter: no other lies between.
  bool is_as_left(const TensorResult& state) const {
    const auto last = carried_.parameters[0].find(state.identity.name);
    return last != carried_.parameters[0].end() && records_.step && last->second.step &&
           last->second.tensor.identity.phase == Phase::optimizer &&
           *records_.step - *last->second.step == 1;
  }

  /// Such a state may be apart as it was left, and no further.
  bool settle_left(TensorResult& result, const compare::Pair& parameter) {
    const auto before = carried_.elements.find(result.identity.name);
    if (before == carried_.elements.end()) return false;
    compare::NoiseRule rule;
    rule.outlier = result.limit.rel;
    rule.before = &before->second;
    rule.size = result.metrics.reference_rms();
    const auto found =
        attempt([&] { return compare::unsettled(parameter, nullptr, rule, interrupted); });
    if (!found || found->apart.empty() || !within(*found, result)) return false;
    return accept(
        result, *found, kStands,
        fmt::format("{} elements stand as the update before left them", found->apart.size()));
  }

  /// The gradients of the update that left a step's state, where the step before recorded them.
  std::optional<compare::Pair> slope_before(const compare::Pair& state) const {
    const auto left = before_[0].find(parameter_place(*state.reference));
    const auto right = before_[1].find(parameter_place(*state.candidate));
    if (left == before_[0].end() || right == before_[1].end() || state.mapped()) {
      return std::nullopt;
    }
    compare::Pair slope;
    slope.reference = left->second;
    slope.candidate = right->second;
    return slope;
  }

  /// `known`: the gradients of its last update, if they are not this step's.
  bool settle_parameter(TensorResult& result, const compare::Pair& parameter, double step,
                        const std::string& why, const compare::Pair* known = nullptr) {
    const std::string place = parameter_place(*parameter.reference);
    const auto in = [&](const auto& records) {
      const auto found = records.find(place);
      return found == records.end() ? nullptr : found->second;
    };
    const std::string& name = result.identity.name;
    auto found = apart_along(known != nullptr ? known : in(gradients_), parameter, result, step);
    const compare::Pair* const moment = in(moments_);
    if (!found && known == nullptr && moment != nullptr && times_ == 0) {
      found = apart_along(moment, parameter, result, step);
    }
    if (!found && known == nullptr && times_ == 0 && !records_.alone) {
      const auto earlier = slope_before(parameter);
      if (earlier) found = apart_along(in(gradients_), parameter, result, step, &*earlier);
    }
    if (!found) return false;
    carried_.elements[name] = found->apart;
    return accept(result, *found, result.identity.phase == Phase::state ? kStands : kUpdate,
                  fmt::format("{} elements {}", found->apart.size(), why));
  }

  /// Elements that updates along `slope` may have set apart, where the others are within the
  /// result's limit without them.
  std::optional<compare::Unsettled> apart_along(const compare::Pair* slope,
                                                const compare::Pair& parameter,
                                                const TensorResult& result, double step,
                                                const compare::Pair* earlier = nullptr) {
    const auto before = carried_.elements.find(result.identity.name);
    compare::NoiseRule rule{part_ * result.limit.row,
                            0,
                            step,
                            before == carried_.elements.end() ? nullptr : &before->second,
                            0,
                            std::max(step, records_.updates * step_),
                            result.metrics.reference_rms(),
                            earlier};
    if (slope != nullptr && !allow_by(*slope, result, rule)) return std::nullopt;
    const auto measure = [&] { return compare::unsettled(parameter, slope, rule, interrupted); };
    auto found = attempt(measure);
    if (found && !within(*found, result)) {  // many that are each beyond by less
      rule.outlier = result.limit.rel;
      found = attempt(measure);
    }
    const bool settles = found && !found->apart.empty() && within(*found, result);
    return settles ? std::move(found) : std::nullopt;
  }

  /// What of the gradients' differences is noise, and what of them altogether; false where they are
  /// known to have diverged, from which no update is excused.
  bool allow_by(const compare::Pair& slope, const TensorResult& parameter,
                compare::NoiseRule& rule) {
    const auto judged = judged_.find(slope.reference);
    const bool known = judged != judged_.end();
    if (known && judged->second->outcome() == Outcome::diverged &&
        !of_gradients_.look(*judged->second)) {
      return false;
    }
    Limit limit = known ? judged->second->limit : parameter.limit;
    if (!known) limits::widen_by_apart(limit, *slope.reference, carried_.apart);
    const double size = terms_.size_of(*slope.reference);
    const auto roundoff = terms_.roundoff(*slope.reference, limit.op);
    const double terms = roundoff ? roundoff->most : 0;
    const bool behind = parameter.identity.phase == Phase::state;  // an update of another step
    rule.gradient = std::max(limit.outlier * size, 2 * terms);
    rule.zero = std::max(terms, behind ? limit.rel * size : 0);
    if (times_ == 0) return true;
    // A multiple of what is round-off altogether; other gradients' own limits hold for the rest.
    rule.gradient = 0;
    rule.zero = terms;
    rule.step = times_ * terms;
    rule.wander = records_.updates * rule.step;
    return terms > 0;
  }

  /// How far updates that no step recorded may have moved a parameter since it was last seen.
  double unrecorded(const std::string& parameter) const {
    return std::isfinite(since_) && !states_.contains(parameter) ? (since_ - 1) * step_ : 0;
  }

  /// A bias is added to what its op puts out.
  bool settle_output(TensorResult& result, const compare::Pair& output) {
    const std::string module(module_of(result.identity));
    auto before = carried_.elements.find(module + "/param.bias");
    if (before == carried_.elements.end())
      before = carried_.elements.find(module + "/parameters.bias");
    const bool stands = before != carried_.elements.end() && !before->second.empty();
    const bool seen = states_.contains(module + "/parameters.bias");
    const double reach = seen ? 0 : unrecorded(stands ? before->first : module + "/param.bias");
    if (!stands && !(reach > 0 && steps_by_chance(module + "/bias", result.limit.op))) return false;
    const compare::SetApart none;
    const compare::SetApart& bias = stands ? before->second : none;
    const Shape& shape = output.reference->shape;
    if (shape.empty()) return false;
    const std::int64_t width = bias_count(stands ? before->first : module + "/param.bias", shape);
    if (stands && bias.rbegin()->first >= width) return false;
    const auto found = attempt([&] {
      return compare::less_bias(output, bias, width, reach, result.metrics.reference_rms(),
                                interrupted);
    });
    if (!found || !within(*found, result)) return false;
    outputs_.insert(values_of(result));
    return accept(result, *found, kAdded, "less what its bias differs by");
  }

  /// How many elements the bias has, as the step before recorded it; else as many as the output is
  /// wide.
  std::int64_t bias_count(const std::string& name, const Shape& output) const {
    const auto known = carried_.parameters[0].find(name);
    return known == carried_.parameters[0].end() ? output.back()
                                                 : element_count(known->second.tensor.shape);
  }

  /// What goes into an op is what came out of another where the norms of both sides and of the
  /// difference are the same to the bit.
  bool settle_input(TensorResult& result) const {
    if (!outputs_.contains(values_of(result))) return false;
    result.limit.source += "; it is what such an op put out";
    excuse(result, kAdded, result.metrics.max_abs);
    return true;
  }

  /// Whether both sides' gradients of a parameter are round-off in the step that was seen last:
  /// updates since may have gone either way.
  bool steps_by_chance(const std::string& place, double op) const {
    const auto left = before_[0].find(place), right = before_[1].find(place);
    if (left == before_[0].end() || right == before_[1].end()) return false;
    const auto known = [](const Tensor* tensor) {
      return tensor->stored || statistics_alone(*tensor) != nullptr;
    };
    const auto roundoff = terms_.roundoff(*left->second, op);
    return roundoff && known(left->second) && known(right->second) &&
           terms_.size_of(*left->second) <= roundoff->usual &&
           terms_.size_of(*right->second) <= roundoff->usual;
  }

  using Values = std::tuple<std::int64_t, double, double, double>;

  static Values values_of(const TensorResult& result) {
    const Metrics& metrics = result.metrics;
    return {metrics.count, metrics.sum_a2, metrics.sum_b2, metrics.sum_d2};
  }

  /// Nothing where it was read well before and cannot be now, or a signal came: the result stands.
  template <class Measure>
  static auto attempt(Measure&& measure) -> decltype(measure()) {
    try {
      return measure();
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  /// The limit of the worst of the other elements. Where rows are within theirs with all elements,
  /// they are without those that were set apart; else each element stands for its row.
  static double of_element(const TensorResult& result) {
    const auto& detail = result.detail;
    const bool row = detail && !(detail->row_error <= result.limit.row);
    return row ? result.limit.row : result.limit.outlier;
  }

  static bool within(const compare::Unsettled& rest, const TensorResult& result) {
    return rest.rel <= result.limit.rel && rest.outlier <= of_element(result);
  }

  /// False of one that was within its limit all along.
  static bool accept(TensorResult& result, const compare::Unsettled& rest, std::string_view rule,
                     const std::string& why) {
    if (result.outcome() == Outcome::noise) return false;
    verdict::set_test(result, Test::rel, rest.rel, result.limit.rel);
    result.limit.source += "; " + why;
    excuse(result, rule, result.metrics.max_abs);
    return true;
  }

  const StepRecords& records_;
  std::span<TensorResult> results_;
  const Terms& terms_;
  Excuser& of_gradients_;
  std::optional<bool> known_;  ///< how long an update is; nothing: it was not asked
  double step_ = 0;            ///< twice the longest update
  double times_ = 0;           ///< twice what one is of its gradient, if that bounds it; else 0
  double updates_ = 0;         ///< that the state may have behind it and nobody compared
  double since_ = std::numeric_limits<double>::infinity();  ///< updates since the last dump
  Carried& carried_;
  double part_;                                ///< of an update that later ones do not repeat
  std::set<std::string, std::less<>> states_;  ///< parameters whose state the step records
  std::map<std::string, const compare::Pair*> gradients_;
  std::map<std::string, const compare::Pair*> moments_;  ///< first ones: of earlier gradients, too
  std::unordered_map<const Tensor*, TensorResult*>
      judged_;  ///< of this step's gradients and moments
  std::array<std::map<std::string, const Tensor*>, 2> before_;  ///< gradients of the step before
  std::set<Values> outputs_;                                    ///< of those that were excused
};

}  // namespace

std::unique_ptr<Excuser> along_updates(const StepRecords& step, std::span<TensorResult> results,
                                       const Terms& terms, Excuser& gradients, Carried& carried) {
  return std::make_unique<Updates>(step, results, terms, gradients, carried);
}

}  // namespace ttcheck::noise
