// SPDX-License-Identifier: Apache-2.0
#include "core/noise/update_length.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/compare/compare.hpp"

namespace ttcheck::noise {
namespace {

std::optional<double> stated_number(std::span<const Fact> facts, std::string_view name) {
  const Fact* fact = find_fact(facts, name);
  return fact == nullptr ? std::nullopt : number_of(fact->value);
}

/// How an optimizer that is no multiple of the gradient moves an element.
enum class Kin : std::uint8_t { none, adam, sign, rmsprop, unbounded };

Kin kin_of(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  if (has("lamb")) return Kin::unbounded;  // times |p| / |update|, layer by layer
  if (has("adam")) return Kin::adam;
  if (has("lion") || has("signsgd")) return Kin::sign;
  if (has("rmsprop")) return Kin::rmsprop;
  const bool scaled = has("adafactor") || has("adagrad") || has("adadelta") || has("muon") ||
                      has("shampoo") || has("soap") || has("sophia") || has("rprop");
  return scaled ? Kin::unbounded : Kin::none;
}

/// Of the optimizer that the facts state; who states none may be any.
Kin stated_kin(std::span<const Fact> facts) {
  const Fact* const fact = find_fact(facts, "optimizer.name");
  const auto* const text = fact == nullptr ? nullptr : std::get_if<std::string>(&fact->value);
  return text == nullptr ? Kin::unbounded : kin_of(*text);
}

/// Nothing where the optimizer, or what its updates depend on, is not stated; all zeros of one
/// whose updates are multiples of gradients where their factor is not.
std::optional<UpdateLength> stated_by(std::span<const Fact> facts) {
  const Kin kin = stated_kin(facts);
  auto lr = stated_number(facts, "lr");
  if (!lr) lr = stated_number(facts, "optimizer.lr");
  const bool rate = lr && *lr > 0;
  if (kin == Kin::none && !rate) return UpdateLength{};
  if (kin == Kin::unbounded || !rate) return std::nullopt;
  const auto number = [&](std::string_view name, double usual) {
    return stated_number(facts, name).value_or(usual);
  };
  if (kin == Kin::sign) return UpdateLength{*lr, 0};
  const double momentum = number("optimizer.momentum", 0);
  if (kin == Kin::none) {
    return momentum < 1 ? UpdateLength{0, *lr / (1 - momentum)} : UpdateLength{};
  }
  if (kin == Kin::rmsprop) {
    const double alpha = number("optimizer.alpha", 0.99);
    if (!(alpha < 1) || !(momentum < 1)) return std::nullopt;
    return UpdateLength{*lr / std::sqrt(1 - alpha) / (1 - momentum), 0};
  }
  const double beta1 = number("optimizer.betas.0", 0.9);
  const double beta2 = number("optimizer.betas.1", 0.999);
  const double spread = beta2 < 1 ? (1 - beta1) / std::sqrt(1 - beta2) : 1;
  return UpdateLength{*lr * std::max(1.0, spread), 0};
}

/// Of one side.
std::optional<double> multiple_of(std::span<const Fact> facts, double updates) {
  const auto stated = stated_by(facts);
  if (!stated || !(stated->times > 0)) return std::nullopt;
  const double momentum = stated_number(facts, "optimizer.momentum").value_or(0);
  return stated->times * (updates > 0 ? 1 - std::pow(momentum, updates + 1) : 1);
}

/// The most by which an element of the reference's parameters moved.
std::optional<double> moved(const StepRecords& step, const Carried& carried) {
  const Phase phase = records_updates(step) ? Phase::optimizer : Phase::state;
  std::map<std::string_view, const Tensor*> before;
  for (const auto& [name, one] : carried.parameters[0]) before.emplace(name, &one.tensor);
  std::vector<compare::Pair> updates;
  for (const RecordPair& pair : step.pairs) {
    const Tensor& now = *pair.reference;
    if (pair.compared == nullptr || now.kind != Kind::weight || !now.stored) continue;
    if (now.identity.phase == Phase::state && phase == Phase::optimizer) {
      before[now.identity.name] = &now;
    }
    if (now.identity.phase != phase) continue;
    const auto then = before.find(now.identity.name);
    if (then == before.end() || then->second->shape != now.shape || !then->second->stored) continue;
    updates.push_back({then->second, &now});
  }
  double most = 0;
  for (const compare::Compared& one : compare::compare(updates, {})) {
    if (!one.error) most = std::max(most, one.metrics.max_abs);
  }
  return most > 0 && std::isfinite(most) ? std::optional(most) : std::nullopt;
}

}  // namespace

bool records_updates(const StepRecords& step) {
  return std::ranges::any_of(step.pairs, [](const RecordPair& pair) {
    const Tensor& tensor = *pair.reference;
    return pair.compared != nullptr && tensor.kind == Kind::weight &&
           tensor.identity.phase == Phase::optimizer;
  });
}

std::optional<double> stated_multiple(const StepRecords& step) {
  const auto left = multiple_of(step.reference_facts, step.updates);
  const auto right = multiple_of(step.candidate_facts, step.updates);
  return left && right ? std::optional(std::max(*left, *right)) : std::nullopt;
}

double new_part(const StepRecords& step) {
  double part = 1;
  for (const auto facts : {step.reference_facts, step.candidate_facts}) {
    if (stated_kin(facts) != Kin::rmsprop) return 1;
    part = std::min(part, 1 - stated_number(facts, "optimizer.momentum").value_or(0));
  }
  return part > 0 ? part : 1;
}

std::optional<UpdateLength> longest_update(const StepRecords& step, const Carried& carried) {
  const auto left = stated_by(step.reference_facts);
  const auto right = stated_by(step.candidate_facts);
  const auto none = [](const auto& one) { return one && one->most == 0 && one->times == 0; };
  if (none(left) || none(right)) return std::nullopt;
  if (left && right) {
    return UpdateLength{std::max(left->most, right->most), std::max(left->times, right->times)};
  }
  const auto seen = moved(step, carried);
  return seen ? std::optional(UpdateLength{*seen, 0}) : std::nullopt;
}

}  // namespace ttcheck::noise
