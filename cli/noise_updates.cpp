#include "cli/noise_updates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cli/interrupt.hpp"
#include "core/compare/unsettled.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::cli {
namespace {

std::optional<double> number_of(const std::vector<Fact>& facts, std::string_view name) {
  const Fact* fact = find_fact(facts, name);
  if (fact == nullptr) return std::nullopt;
  if (const auto* real = std::get_if<double>(&fact->value)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&fact->value)) {
    return static_cast<double>(*whole);
  }
  return std::nullopt;
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
  auto lr = number_of(facts, "lr");
  if (!lr) lr = number_of(facts, "optimizer.lr");
  if (!lr || !(*lr > 0)) return std::nullopt;
  const double beta1 = number_of(facts, "optimizer.betas.0").value_or(0.9);
  const double beta2 = number_of(facts, "optimizer.betas.1").value_or(0.999);
  const double spread = beta2 < 1 ? (1 - beta1) / std::sqrt(1 - beta2) : 1;
  return *lr * std::max(1.0, spread);
}

bool is_parameter(const TensorResult& result) {
  return result.kind == Kind::weight || result.kind == Kind::master;
}

class Settling {
 public:
  Settling(const MetStep& met, double step, DiffContext& context, Verdict& verdict)
      : met_(met), step_(step), context_(context), verdict_(verdict) {
    for (const compare::Pair& pair : met.work.pairs) {
      const Tensor& tensor = *pair.reference;
      const bool slope = tensor.kind == Kind::main_grad || tensor.kind == Kind::grad;
      const bool updated = tensor.identity.phase == Phase::optimizer &&
                           (tensor.kind == Kind::weight || tensor.kind == Kind::master);
      if (slope) gradients_[of_kind(tensor.identity.name)] = &pair;  // the last one counts
      if (updated) parameters_[tensor.identity.name] = &pair;
    }
  }

  void settle(TensorResult& result) {
    const bool open = result.outcome == Outcome::diverged &&
                      result.limit.kind == LimitKind::model && result.test != "replica" &&
                      result.metrics.non_finite_disagree == 0 && result.metrics.taken_out == 0;
    if (!open) return;
    if (is_parameter(result) && result.identity.phase == Phase::optimizer)
      return settle_update(result);
    if (is_parameter(result) && result.identity.phase == Phase::state) return settle_state(result);
    if (result.identity.phase == Phase::forward && result.kind == Kind::output) {
      settle_output(result);
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

  void settle_update(TensorResult& result) {
    const std::string& name = result.identity.name;
    const auto gradient = gradients_.find(of_kind(name));
    const auto parameter = parameters_.find(name);
    if (gradient == gradients_.end() || parameter == parameters_.end()) return;
    const Limit& limit = result.limit;
    const auto before = context_.carried.find(name);
    const double stood = before == context_.carried.end() ? 0 : before->second;
    // A gradient's own limit is its parameter's before the factor for updates.
    const compare::NoiseRule rule{limit.outlier * 3, stood + 2 * step_};
    std::optional<compare::Unsettled> found;
    try {
      found =
          compare::unsettled(*parameter->second, *gradient->second, rule, limit.row, interrupted);
    } catch (const Error&) {
      return;  // read well before, or stopped: the result stands
    }
    if (!found || found->set_apart == 0) return;
    if (!(found->rel <= limit.rel) || !(found->outlier <= limit.row)) return;
    context_.carried[name] = found->largest;
    accept(
        result, found->rel / limit.rel,
        fmt::format("{} elements whose gradient is noise may differ by {:.3g}, twice the longest "
                    "step",
                    found->set_apart, rule.step));
  }

  void settle_state(TensorResult& result) {
    const auto before = context_.carried.find(result.identity.name);
    if (before == context_.carried.end() || !(result.metrics.max_abs <= before->second)) return;
    accept(result, result.metrics.max_abs / before->second,
           "it differs since an update whose gradient was noise");
  }

  /// A bias is added to what its op puts out.
  void settle_output(TensorResult& result) {
    const std::string bias = std::string(module_of(result.identity)) + "/param.bias";
    const auto before = context_.carried.find(bias);
    if (before == context_.carried.end()) return;
    const auto count = static_cast<double>(std::max<std::int64_t>(result.metrics.count, 1));
    const double allowed =
        before->second + result.limit.outlier * std::sqrt(result.metrics.sum_a2 / count);
    if (!(result.metrics.max_abs <= allowed)) return;
    accept(result, result.metrics.max_abs / allowed,
           "its bias differs since an update whose gradient was noise");
  }

  void accept(TensorResult& result, double ratio, const std::string& why) {
    ++settled_;
    largest_ = std::max(largest_, result.metrics.max_abs);
    auto& outcomes = verdict_.tally.outcomes;
    --outcomes[static_cast<std::size_t>(Outcome::diverged)];
    ++outcomes[static_cast<std::size_t>(Outcome::noise)];
    result.outcome = Outcome::noise;
    result.ratio = ratio;
    result.error = result.metrics.rel();
    result.limit.rel = std::max(result.limit.rel, result.error / ratio);
    result.test = "rel";
    result.limit.source += "; " + why;
    result.wrong_ranks.clear();
    result.places = nullptr;
  }

  const MetStep& met_;
  double step_;
  DiffContext& context_;
  Verdict& verdict_;
  std::map<std::string, const compare::Pair*> gradients_, parameters_;
  std::int64_t settled_ = 0;
  double largest_ = 0;
};

}  // namespace

void settle_noise_updates(const MetStep& met, std::span<TensorResult> results,
                          const StepPair& steps, DiffContext& context, Verdict& verdict) {
  const bool any = std::ranges::any_of(
      results, [](const TensorResult& result) { return result.outcome == Outcome::diverged; });
  if (!any || !met.trace) return;
  const auto left = longest_step(met.sides->front().facts);
  const auto right = longest_step(met.sides->back().facts);
  if (!left || !right) return;
  Settling settling(met, std::max(*left, *right), context, verdict);
  for (TensorResult& result : results) settling.settle(result);
  if (settling.settled() == 0) return;
  verdict.findings.push_back(verdict::note(
      Code::unmeasured_noise, steps.step,
      fmt::format("{} tensors differ by up to {:.3g} only because gradients that are zero but for "
                  "round-off were stepped along",
                  settling.settled(), settling.largest())));
}

}  // namespace ttcheck::cli
