#include "cli/noise_updates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cli/as_noise.hpp"
#include "cli/interrupt.hpp"
#include "cli/noise_gradients.hpp"
#include "core/compare/rms.hpp"
#include "core/compare/unsettled.hpp"
#include "core/limits/model.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::cli {
namespace {

constexpr double kGradients = 3;  // limit of a gradient, in limits of its parameter after an update

std::optional<double> stated_number(const std::vector<Fact>& facts, std::string_view name) {
  const Fact* fact = find_fact(facts, name);
  return fact == nullptr ? std::nullopt : number_of(fact->value);
}

/// Optimizers that divide a gradient by its own size.
bool is_adaptive(const std::vector<Fact>& facts) {
  const Fact* fact = find_fact(facts, "optimizer.name");
  const auto* text = fact == nullptr ? nullptr : std::get_if<std::string>(&fact->value);
  if (text == nullptr) return false;
  std::string name = *text;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.find("adam") != std::string::npos || name.find("lamb") != std::string::npos;
}

/// The longest step of one element: lr x max(1, (1 - beta1) / sqrt(1 - beta2)) (Kingma and Ba,
/// "Adam", 2014, section 2.1).
std::optional<double> longest_step(const std::vector<Fact>& facts) {
  if (!is_adaptive(facts)) return std::nullopt;
  auto lr = stated_number(facts, "lr");
  if (!lr) lr = stated_number(facts, "optimizer.lr");
  if (!lr || !(*lr > 0)) return std::nullopt;
  const double beta1 = stated_number(facts, "optimizer.betas.0").value_or(0.9);
  const double beta2 = stated_number(facts, "optimizer.betas.1").value_or(0.999);
  const double spread = beta2 < 1 ? (1 - beta1) / std::sqrt(1 - beta2) : 1;
  return *lr * std::max(1.0, spread);
}

/// Whether steps record what their update left. Where they do not, the next step's state tells.
bool records_updates(const MetStep& met) {
  return std::ranges::any_of(met.work.pairs, [](const compare::Pair& pair) {
    const Tensor& tensor = *pair.reference;
    return tensor.kind == Kind::weight && tensor.identity.phase == Phase::optimizer;
  });
}

bool is_parameter(const TensorResult& result) {
  return result.kind == Kind::weight || result.kind == Kind::master;
}

/// Beyond what a row may have, though within the limit: where noise made it so, the next update may
/// carry it on beyond.
bool may_go_on(const TensorResult& result) {
  const Metrics& metrics = result.metrics;
  if (result.outcome != Outcome::noise || result.identity.phase != Phase::optimizer) return false;
  const double rms =
      std::sqrt(metrics.sum_a2 / static_cast<double>(std::max<std::int64_t>(metrics.count, 1)));
  return is_parameter(result) && metrics.max_abs > result.limit.row * rms;
}

/// Held to what the whole network may have made of round-off, and worth looking at.
bool is_open(const TensorResult& result) {
  const LimitKind kind = result.limit.kind;
  return (result.outcome == Outcome::diverged || may_go_on(result)) &&
         (kind == LimitKind::model || kind == LimitKind::measured) && result.test != "replica" &&
         result.metrics.non_finite_disagree == 0 && result.metrics.taken_out == 0;
}

class Settling {
 public:
  /// `step`: twice the longest of an update; `updates`: how many the state may have behind it that
  /// nobody compared; `steps`: how many updates the runs have made at the end of this step.
  Settling(const MetStep& met, double step, double updates, double steps, DiffContext& context,
           Verdict& verdict)
      : step_(step), updates_(updates), steps_(steps), context_(context), verdict_(verdict) {
    for (const compare::Pair& pair : met.work.pairs) {
      const Tensor& tensor = *pair.reference;
      pairs_.emplace(tensor.identity, &pair);
      const bool slope = tensor.kind == Kind::main_grad || tensor.kind == Kind::grad;
      if (slope) gradients_[of_kind(tensor.identity.name)] = &pair;  // the last one counts
    }
  }

  void settle(TensorResult& result) {
    const auto pair = pairs_.find(result.identity);
    if (!is_open(result) || pair == pairs_.end()) return;
    const Phase phase = result.identity.phase;
    if (is_parameter(result) && phase == Phase::optimizer) {
      settle_parameter(
          result, *pair->second, step_,
          fmt::format("whose gradient is noise may differ by {:.3g}, twice the longest "
                      "update",
                      step_));
    } else if (is_parameter(result) && phase == Phase::state) {
      settle_parameter(result, *pair->second, updates_ * step_,
                       "differ since updates whose gradient was noise");
    } else if (phase == Phase::forward && result.kind == Kind::output) {
      settle_output(result, *pair->second);
    }
  }

  std::int64_t settled() const { return settled_; }
  double largest() const { return largest_; }

 private:
  /// `<module>/<slot>` of a parameter or its gradient.
  static std::string of_kind(std::string_view name) {
    const std::size_t slash = name.rfind('/');
    const std::size_t dot = slash == std::string_view::npos ? slash : name.find('.', slash);
    if (dot == std::string_view::npos) return std::string(name);
    return fmt::format("{}/{}", name.substr(0, slash), name.substr(dot + 1));
  }

  void settle_parameter(TensorResult& result, const compare::Pair& parameter, double step,
                        const std::string& why) {
    const std::string& name = result.identity.name;
    const auto gradient = gradients_.find(of_kind(name));
    const auto before = context_.carried.find(name);
    const compare::Pair* const slope = gradient == gradients_.end() ? nullptr : gradient->second;
    // A gradient's own limit is its parameter's before the factor for updates.
    Limit of_slope = result.limit;
    if (result.identity.phase == Phase::optimizer) {
      of_slope.rel *= kGradients;
      of_slope.outlier *= kGradients;
    }
    if (slope != nullptr) limits::widen_by_apart(of_slope, *slope->reference, context_.apart);
    const double terms = terms_of(slope);
    const bool state = result.identity.phase == Phase::state;  // behind an update of another step
    compare::NoiseRule rule{result.limit.row,
                            of_slope.outlier,
                            step,
                            before == context_.carried.end() ? nullptr : &before->second,
                            terms,
                            state || terms > 0 ? of_slope.rel : 0,
                            std::max(step, steps_ * step_)};
    const auto measure = [&] { return compare::unsettled(parameter, slope, rule, interrupted); };
    auto found = attempt(measure);
    if (found && !within(*found, result.limit)) {  // many that are each beyond by less
      rule.outlier = result.limit.rel;
      found = attempt(measure);
    }
    if (!found || found->apart.empty() || !within(*found, result.limit)) return;
    context_.carried[name] = found->apart;
    if (result.outcome == Outcome::noise) return;
    accept(result, *found, fmt::format("{} elements {}", found->apart.size(), why));
  }

  /// Rms of the gradient of the weight beside a bias; 0 of other gradients.
  double terms_of(const compare::Pair* slope) const {
    if (slope == nullptr) return 0;
    const auto beside = weight_beside(slope->reference->identity);
    const auto weight = beside ? pairs_.find(*beside) : pairs_.end();
    if (weight == pairs_.end() || !weight->second->reference->stored) return 0;
    return attempt([&] { return std::optional(compare::rms_of(*weight->second->reference)); })
        .value_or(0);
  }

  /// A bias is added to what its op puts out.
  void settle_output(TensorResult& result, const compare::Pair& output) {
    const auto before =
        context_.carried.find(std::string(module_of(result.identity)) + "/param.bias");
    const Shape& shape = output.reference->shape;
    if (before == context_.carried.end() || before->second.empty() || shape.empty()) return;
    if (before->second.rbegin()->first >= shape.back()) return;  // of another width
    const auto found = attempt(
        [&] { return compare::less_bias(output, before->second, shape.back(), interrupted); });
    if (!found || !within(*found, result.limit)) return;
    accept(result, *found, "less what its bias differs by");
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

  static bool within(const compare::Unsettled& rest, const Limit& limit) {
    return rest.rel <= limit.rel && rest.outlier <= limit.row;
  }

  void accept(TensorResult& result, const compare::Unsettled& rest, const std::string& why) {
    ++settled_;
    largest_ = std::max(largest_, result.metrics.max_abs);
    result.error = rest.rel;
    result.ratio = std::max(rest.rel / result.limit.rel, rest.outlier / result.limit.row);
    result.test = "rel";
    result.limit.source += "; " + why;
    count_as_noise(result, verdict_);
  }

  double step_, updates_, steps_;
  DiffContext& context_;
  Verdict& verdict_;
  std::unordered_map<Identity, const compare::Pair*, IdentityHash> pairs_;
  std::map<std::string, const compare::Pair*> gradients_;
  std::int64_t settled_ = 0;
  double largest_ = 0;
};

}  // namespace

limits::Apart apart_after(std::span<const TensorResult> results, const limits::Apart& before) {
  limits::Apart apart;
  apart.diverged = before.diverged;
  for (const TensorResult& result : results) {
    if (result.kind != Kind::weight || result.identity.phase != Phase::optimizer) continue;
    if (result.outcome == Outcome::diverged) {
      apart.diverged.insert(result.identity.name);
    } else {
      apart.diverged.erase(result.identity.name);
    }
    if (result.outcome != Outcome::noise) continue;
    const double rel = result.metrics.rel();
    if (!std::isfinite(rel)) continue;  // of a parameter that was all zeros
    const bool settled = result.test == "rel" && result.error < rel;
    apart.noise = std::hypot(apart.noise, settled ? result.error : rel);
    if (!settled || result.identity.name.ends_with("bias")) continue;
    apart.chance = std::hypot(apart.chance, std::sqrt(rel * rel - result.error * result.error));
  }
  apart.chance = std::max(apart.chance, before.chance);  // nothing brings them together again
  return apart;
}

bool settle_noise_updates(const MetStep& met, std::span<TensorResult> results,
                          const StepPair& steps, DiffContext& context, Verdict& verdict) {
  if (!met.trace || std::ranges::none_of(results, is_open)) return false;
  const auto left = longest_step(met.sides->front().facts);
  const auto right = longest_step(met.sides->back().facts);
  if (!left || !right) return false;
  const bool before = !context.first_step && !records_updates(met);
  const double made = static_cast<double>(steps.reference) + 1;
  const double updates = context.alone || before ? made : 0;
  Settling settling(met, 2 * std::max(*left, *right), updates, made, context, verdict);
  for (TensorResult& result : results) settling.settle(result);
  if (settling.settled() == 0) return false;
  verdict.findings.push_back(verdict::note(
      Code::unmeasured_noise, steps.step,
      fmt::format("{} tensors differ by up to {:.3g} only because gradients that are zero but for "
                  "round-off were stepped along",
                  settling.settled(), settling.largest())));
  return true;
}

}  // namespace ttcheck::cli
