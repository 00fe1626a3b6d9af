// SPDX-License-Identifier: Apache-2.0
#include "core/recompute/formula.hpp"

#include <algorithm>
#include <memory>

namespace ttcheck::recompute {
namespace {

/// Elements of a range, where nothing else asks for more.
constexpr std::int64_t kFormulaRange = 1 << 14;

}  // namespace

Formula elementwise(double cost, std::function<void(std::int64_t, std::span<double>)> fill) {
  return {1, kFormulaRange, cost, 1, std::move(fill)};
}

std::optional<Formula> by_rows(std::int64_t width, double cost,
                               std::function<void(std::int64_t, std::span<double>)> fill) {
  if (width < 1 || width > kMostHeld) return std::nullopt;
  const std::int64_t preferred = width * std::max<std::int64_t>(1, kFormulaRange / width);
  return Formula{width, preferred, cost, 1, std::move(fill)};
}

std::optional<Formula> sum_of(std::vector<Formula> parts) {
  if (parts.empty()) return std::nullopt;
  Formula sum = *std::ranges::max_element(parts, {}, &Formula::granule);
  sum.cost = sum.length = 0;
  for (const Formula& part : parts) {
    if (sum.granule % part.granule != 0) return std::nullopt;
    sum.preferred = std::max(sum.preferred, part.preferred);
    sum.cost += part.cost;
    sum.length = std::max(sum.length, part.length);
  }
  sum.preferred -= sum.preferred % sum.granule;
  auto all = std::make_shared<const std::vector<Formula>>(std::move(parts));
  sum.fill = [all](std::int64_t begin, std::span<double> out) {
    all->front().fill(begin, out);
    for (std::size_t n = 1; n < all->size(); ++n) {
      std::vector<double> part(out.size());
      (*all)[n].fill(begin, part);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += part[i];
    }
  };
  return sum;
}

}  // namespace ttcheck::recompute
