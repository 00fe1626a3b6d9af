// SPDX-License-Identifier: Apache-2.0
#include "core/model/part_alone.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "core/model/kind.hpp"
#include "core/model/name_number.hpp"

namespace ttcheck {
namespace {

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

/// Everything in front of the last dot; empty where there is none.
std::string_view module_in(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

bool is_statistic(const TensorResult& one) {
  constexpr auto kStatistics =
      std::to_array<std::string_view>({"running_mean", "running_var", "num_batches_tracked"});
  return std::ranges::find(kStatistics, last_part(one.identity.name)) != kStatistics.end();
}

bool is_optimizers(const TensorResult& one) {
  return one.identity.name.find('@') != std::string::npos && one.kind != Kind::weight;
}

/// Whether an error is about a tensor that is none of these: of another shape, on one side only.
bool others_are_wrong(std::span<const Finding> findings,
                      const std::vector<const TensorResult*>& wrong) {
  std::set<std::string_view> names;
  for (const TensorResult* one : wrong) names.insert(one->identity.name);
  return std::ranges::any_of(findings, [&](const Finding& finding) {
    return finding.severity == Severity::error && !finding.tensor.empty() &&
           !names.contains(finding.tensor);
  });
}

}  // namespace

std::string part_alone(std::span<const TensorResult> tensors, std::span<const Finding> findings,
                       std::int64_t paired, bool weights) {
  std::vector<const TensorResult*> wrong;
  for (const TensorResult& one : tensors) {
    if (one.outcome() == Outcome::diverged) wrong.push_back(&one);
  }
  const bool others = paired > std::ssize(wrong);
  if (wrong.size() < 2 || !others || wrong.front()->identity.phase != Phase::none) return "";
  if (others_are_wrong(findings, wrong)) return "";
  const auto all = [&](auto&& is) {
    return std::ranges::all_of(wrong, [&](const TensorResult* one) { return is(*one); });
  };
  if (weights && all(is_optimizers)) return "the optimizer's state alone";
  if (all(is_statistic)) return "running statistics alone";
  for (const auto part_of : {module_in, layer_of}) {
    const std::string_view part = part_of(wrong.front()->identity.name);
    const auto is_of_it = [&](const TensorResult& one) {
      return one.kind == Kind::weight && part_of(one.identity.name) == part;
    };
    if (!part.empty() && all(is_of_it)) return std::string(part) + " alone";
  }
  return "";
}

}  // namespace ttcheck
