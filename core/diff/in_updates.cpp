#include "core/diff/in_updates.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/model/dtype.hpp"
#include "core/model/fact.hpp"
#include "core/model/kind.hpp"

namespace ttcheck::diff {
namespace {

/// The rate of all groups of parameters; nothing where they differ, or state none.
std::optional<double> learning_rate(std::span<const Fact> facts) {
  std::optional<double> rate;
  for (const Fact& fact : facts) {
    const std::string_view name = fact.name;
    if (!name.starts_with("optimizer.groups.") || !name.ends_with(".lr")) continue;
    const auto one = number_of(fact.value);
    if (!one || (rate && *rate != *one)) return std::nullopt;
    rate = one;
  }
  return rate && *rate > 0 ? rate : std::nullopt;
}

bool is_adam(std::span<const Tensor> tensors) {
  const auto has = [&](Kind kind) {
    return std::ranges::any_of(tensors, [&](const Tensor& one) { return one.kind == kind; });
  };
  return has(Kind::moment1) && has(Kind::moment2);
}

}  // namespace

std::optional<double> apart_in_updates(const MetStep& met, std::span<const TensorResult> results,
                                       std::span<const std::size_t> moved) {
  const auto rate = learning_rate(met.sides->front().facts);
  if (!rate || !is_adam(met.reference())) return std::nullopt;
  double sum_d2 = 0, count = 0;
  for (const std::size_t i : moved) {
    const TensorResult& one = results[i];
    const bool fine =
        std::max(epsilon(one.dtype), epsilon(one.candidate_dtype)) <= epsilon(DType::f32);
    if (!is_parameter(one.kind) || !fine) continue;
    sum_d2 += one.metrics.sum_d2;
    count += static_cast<double>(one.metrics.count);
  }
  if (!(count > 0) || !std::isfinite(sum_d2)) return std::nullopt;
  return std::sqrt(sum_d2 / count) / *rate;
}

}  // namespace ttcheck::diff
