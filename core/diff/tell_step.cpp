// SPDX-License-Identifier: Apache-2.0
#include "core/diff/tell_step.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/compare/element.hpp"
#include "core/diff/comparable.hpp"
#include "core/diff/judge_within.hpp"
#include "core/diff/locate_step.hpp"
#include "core/diff/logged_norm.hpp"
#include "core/diff/stated_ops.hpp"
#include "core/model/stated_numbers.hpp"
#include "core/verdict/facts.hpp"

namespace ttcheck::diff {
namespace {

/// Random states and blobs, which stand beside the tensors.
void report_opaque(const MetStep& met, std::span<const TensorResult> results, Verdict& verdict) {
  const bool equal =
      !met.alignment.pairs.empty() && std::ranges::all_of(results, [](const TensorResult& result) {
        return result.outcome() == Outcome::equal;
      });
  append(verdict.findings, verdict::opaque_findings(met.facts, met.step, equal));
}

/// What a trace says of itself.
void report_stated(const MetStep& met, std::span<const TensorResult> results,
                   const DiffContext& context, Verdict& verdict) {
  if (!met.trace) return;
  append(verdict.findings, stated_ops(met, results));
  if (context.how.recompute) append(verdict.findings, wrong_logged_norm(met, results));
}

/// Both sides' values where the first few that diverged are worst; what cannot be read is not told.
void tell_values(const MetStep& met, std::span<TensorResult> results) {
  constexpr int kMost = 16;
  int told = 0;
  for (TensorResult& result : results) {
    const std::int64_t worst = worst_index(result.metrics);
    const compare::Pair* const pair = met.compared(result);
    if (result.outcome() != Outcome::diverged || worst < 0 || pair == nullptr) continue;
    try {
      result.values = compare::values_at(*pair, worst);
    } catch (const Error&) {
      continue;
    }
    if (++told == kMost) return;
  }
}

/// What lies where inside the tensor of the first difference, where somebody asks.
void look_inside(const MetStep& met, std::span<const TensorResult> results,
                 const DiffContext& context, Verdict& verdict) {
  if (!context.how.hooks.inside || verdict.profile || !verdict.first) return;
  const Divergence& first = *verdict.first;
  const auto result = std::ranges::find_if(results, [&](const TensorResult& one) {
    return one.outcome() == Outcome::diverged && one.identity.name == first.tensor &&
           one.identity.phase == first.phase && one.identity.call == first.call &&
           one.step == first.step;
  });
  const compare::Pair* const pair = result == results.end() ? nullptr : met.compared(*result);
  if (pair == nullptr) return;
  Numbers numbers = numbers_of(met.sides->front().facts);
  numbers.merge(numbers_of(met.sides->back().facts));
  try {
    verdict.profile =
        std::make_shared<const Profile>(context.how.hooks.inside(*pair, result->metrics, numbers));
  } catch (const Error&) {  // compare::Stopped, too: there is no picture
  }
}

}  // namespace

void tell_step(const MetStep& met, std::span<TensorResult> results, DiffContext& context,
               Verdict& verdict) {
  report_opaque(met, results, verdict);
  if (!are_comparable(met, results, context, verdict)) return;
  report_stated(met, results, context, verdict);
  std::vector<recompute::Recomputed> told = condemn_within_limits(met, results, context);
  locate_step(met, results, std::move(told), context, verdict);
  tell_values(met, results);
  look_inside(met, results, context, verdict);
}

}  // namespace ttcheck::diff
