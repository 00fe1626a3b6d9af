#include "core/explain/partial_sum.hpp"

#include <fmt/format.h>

#include "core/explain/rank_part.hpp"

namespace ttcheck::explain {
namespace {

struct Operation {
  Reduce reduce;
  std::string_view name;
};
constexpr Operation kOperations[] = {{Reduce::sum, "sum"}, {Reduce::avg, "mean"}};

/// Copies that are alike are no parts: their mean is each of them.
bool alike(const Subject& subject, Tensor& sum) {
  sum.reduce = Reduce::avg;
  const compare::Pair pair{subject.pair.candidate, &sum};
  const auto compared = compare::compare({&pair, 1}, {});
  return compared[0].error || !(compared[0].metrics.rel() > subject.noise);
}

}  // namespace

std::optional<Explanation> partial_sum(const Subject& subject) {
  const Tensor& candidate = *subject.pair.candidate;
  if (candidate.replicas.empty() || is_exact(candidate.dtype)) return std::nullopt;
  std::optional<Explanation> best;
  for (const Axis& axis : subject.mesh->axes) {
    std::vector<std::vector<Piece>> copies = copies_along(candidate, *subject.mesh, axis.name);
    if (copies.empty()) continue;
    Tensor sum = candidate;
    sum.pieces.clear();
    sum.replicas.clear();
    sum.terms = std::move(copies);
    sum.term_replicas.resize(sum.terms.size());
    if (alike(subject, sum)) continue;
    for (const Operation& operation : kOperations) {
      sum.reduce = operation.reduce;
      compare::Pair pair = subject.pair;
      pair.candidate = &sum;
      const auto compared = compare::compare({&pair, 1}, {});
      if (compared[0].error || compared[0].metrics.non_finite_disagree > 0) continue;
      const double residual = compared[0].metrics.rel();
      if (best && best->hypothesis.residual <= residual) continue;
      best.emplace();
      best->code = Code::partial_sum;
      best->hypothesis = {
          "partial-sum", {{"axis", axis.name}, {"op", std::string(operation.name)}}, residual, 0};
      best->words = fmt::format("each rank holds a part of it: the {} over {} is the reference",
                                operation.name, axis.name);
    }
  }
  return best;
}

}  // namespace ttcheck::explain
