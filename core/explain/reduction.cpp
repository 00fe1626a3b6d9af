#include "core/explain/reduction.hpp"

#include <fmt/format.h>

namespace ttcheck::explain {
namespace {

struct Operation {
  Reduce reduce;
  std::string_view name;
};
constexpr Operation kOperations[] = {{Reduce::sum, "sum"}, {Reduce::avg, "mean"}};

}  // namespace

std::optional<Explanation> best_reduction(const compare::Pair& terms, std::string_view axis) {
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
                        residual,
                        0};
    best->words = fmt::format("each rank holds a part of it: the {} over {} is the reference",
                              operation.name, axis);
  }
  return best;
}

}  // namespace ttcheck::explain
