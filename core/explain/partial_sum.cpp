// SPDX-License-Identifier: Apache-2.0
#include "core/explain/partial_sum.hpp"

#include <utility>

#include "core/compare/compare.hpp"
#include "core/explain/rank_part.hpp"
#include "core/explain/reduction.hpp"

namespace ttcheck::explain {
namespace {

/// Copies that are alike are no parts: their mean is each of them.
bool alike(const Subject& subject, Tensor& sum) {
  sum.reduce = Reduce::avg;
  const compare::Pair pair{subject.pair.candidate, &sum};
  const auto compared = compare::compare({&pair, 1}, {});
  return !(compared[0].metrics.rel() > subject.noise);
}

}  // namespace

std::optional<Explanation> partial_sum(const Subject& subject) {
  const Tensor& candidate = *subject.pair.candidate;
  if (is_exact(candidate.dtype)) return std::nullopt;
  std::optional<Explanation> best;
  for (const Axis& axis : subject.mesh->axes) {
    std::vector<std::vector<Piece>> copies = copies_along(candidate, *subject.mesh, axis.name);
    if (copies.empty()) continue;
    Tensor sum;
    sum.dtype = candidate.dtype;
    sum.shape = candidate.shape;
    sum.holes = candidate.holes;
    sum.terms = std::move(copies);
    if (alike(subject, sum)) continue;
    compare::Pair pair = subject.pair;
    pair.candidate = &sum;
    auto reduced = best_reduction(pair, axis.name, subject.allowed());
    if (!reduced || (best && best->hypothesis.residual <= reduced->hypothesis.residual)) continue;
    best = std::move(reduced);
  }
  return best;
}

}  // namespace ttcheck::explain
