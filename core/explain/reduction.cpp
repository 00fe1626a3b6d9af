// SPDX-License-Identifier: Apache-2.0
#include "core/explain/reduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/compare/compare.hpp"
#include "core/explain/values.hpp"

namespace ttcheck::explain {
namespace {

struct Operation {
  Reduce reduce;
  std::string_view name;
};
constexpr Operation kOperations[] = {{Reduce::sum, "sum"}, {Reduce::avg, "mean"}};

constexpr double kPenaltyVector = 3;    ///< a number for each column was free
constexpr std::int64_t kLeastRows = 8;  ///< fewer are fitted by chance
constexpr std::int64_t kMostColumns = 1'048'576;

/// What is left of candidate - reference when each column's mean is taken out, relative to what is
/// left of the reference when its is. Of a pair that differs, which has elements.
std::optional<double> left_beside_a_vector(const compare::Pair& pair) {
  const Shape& shape = pair.reference->shape;
  if (shape.empty() || shape.back() > kMostColumns) return std::nullopt;
  const std::int64_t columns = shape.back();
  const std::int64_t count = element_count(shape), rows = count / columns;
  if (rows < kLeastRows) return std::nullopt;
  std::vector<double> d(static_cast<std::size_t>(columns)), a(d);
  double d2 = 0, a2 = 0;
  visit_pair(pair, count,
             [&](std::int64_t begin, std::span<const double> left, std::span<const double> right) {
               auto column = static_cast<std::size_t>(begin % columns);
               for (std::size_t i = 0; i < left.size(); ++i) {
                 const double difference = right[i] - left[i];
                 d[column] += difference;
                 a[column] += left[i];
                 d2 += difference * difference;
                 a2 += left[i] * left[i];
                 if (++column == d.size()) column = 0;
               }
             });
  for (std::size_t column = 0; column < d.size(); ++column) {
    d2 -= d[column] * d[column] / static_cast<double>(rows);
    a2 -= a[column] * a[column] / static_cast<double>(rows);
  }
  if (!std::isfinite(d2) || !(a2 > 0)) return std::nullopt;
  return std::sqrt(std::max(0.0, d2) / a2);
}

}  // namespace

std::optional<Explanation> best_reduction(const compare::Pair& terms, std::string_view axis,
                                          double allowed) {
  std::optional<Explanation> best;
  Tensor reduced = *terms.candidate;
  compare::Pair pair = terms;
  pair.candidate = &reduced;
  for (const Operation& operation : kOperations) {
    reduced.reduce = operation.reduce;
    const auto compared = compare::compare({&pair, 1}, {});
    if (compared[0].error || compared[0].metrics.non_finite_disagree > 0) continue;
    const double residual = compared[0].metrics.rel();
    if (best && best->hypothesis.residual <= residual) continue;
    best.emplace();
    best->code = Code::partial_sum;
    best->hypothesis = {"partial-sum",
                        {{"axis", std::string(axis)}, {"op", std::string(operation.name)}},
                        residual};
    best->words = fmt::format("each rank holds a part of it: the {} over {} is the reference",
                              operation.name, axis);
  }
  if (!best || best->hypothesis.residual <= allowed) return best;
  reduced.reduce = Reduce::sum;
  const auto left = left_beside_a_vector(pair);
  if (!left || *left > allowed) return best;
  best->hypothesis.parameters.back().second = std::string("sum");
  best->hypothesis.residual = *left;
  best->penalty = kPenaltyVector;
  best->words = fmt::format(
      "each rank holds a part of it: the sum over {} is the reference plus one vector along the "
      "last "
      "dimension, as of a bias that each rank added",
      axis);
  return best;
}

}  // namespace ttcheck::explain
