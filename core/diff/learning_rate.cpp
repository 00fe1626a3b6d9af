// SPDX-License-Identifier: Apache-2.0
#include "core/diff/learning_rate.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "core/model/fact.hpp"
#include "core/model/kind.hpp"

namespace ttcheck::diff {
namespace {

/// The one value of all facts of the groups with this ending; nothing where they differ.
std::optional<double> of_groups(std::span<const Fact> facts, std::string_view ending) {
  std::optional<double> value;
  for (const Fact& fact : facts) {
    const std::string_view name = fact.name;
    if (!name.starts_with("optimizer.groups.") || !name.ends_with(ending)) continue;
    const auto one = number_of(fact.value);
    if (!one || (value && *value != *one)) return std::nullopt;
    value = one;
  }
  return value;
}

std::optional<double> rate_of(const OpenedStep& side) {
  const auto has = [&](Kind kind) {
    return std::ranges::any_of(side.assembly.tensors,
                               [&](const Tensor& one) { return one.kind == kind; });
  };
  const auto now = of_groups(side.facts, ".lr");
  if (!now || !has(Kind::moment1) || !has(Kind::moment2)) return std::nullopt;
  const double rate = std::max(*now, of_groups(side.facts, ".initial_lr").value_or(0));
  return rate > 0 ? std::optional(rate) : std::nullopt;
}

}  // namespace

std::optional<double> learning_rate(const std::array<OpenedStep, 2>& sides) {
  const auto reference = rate_of(sides.front()), candidate = rate_of(sides.back());
  if (!reference || !candidate) return std::nullopt;
  return std::max(*reference, *candidate);
}

}  // namespace ttcheck::diff
