// SPDX-License-Identifier: Apache-2.0
#include "core/diff/judge_replicas.hpp"

#include <utility>

#include "core/base/interrupted.hpp"
#include "core/verdict/findings.hpp"
#include "core/verdict/judge.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::diff {
namespace {

/// What compare::by_rank gives; empty when a signal came meanwhile, or bytes can no longer be read.
std::vector<RankError> errors_by_rank(const compare::Pair& pair, const StepPair& steps,
                                      Verdict& verdict) {
  try {
    return compare::by_rank(pair, interrupted);
  } catch (const compare::Stopped&) {
    return {};
  } catch (const Error& error) {
    verdict::report_unread_step(error, steps.step, verdict);
    return {};
  }
}

}  // namespace

void judge_replicas(const compare::Pair& pair, const compare::Compared& compared,
                    const StepPair& steps, const DiffContext& context, TensorResult& result,
                    Verdict& verdict) {
  const bool strict = verdict::replicas_are_strict(result.identity.phase);
  const auto report = [&](const Tensor& tensor, const std::vector<std::int32_t>& ranks,
                          const Mesh& mesh, std::string_view side, bool wrong) {
    if (ranks.empty()) return;
    Finding finding = verdict::replica_finding(tensor, steps.step, ranks, mesh, side);
    if (!strict && !wrong) finding.severity = Severity::note;
    verdict.findings.push_back(std::move(finding));
  };
  if (!compared.reference_differs.empty()) {
    const compare::Pair itself{pair.reference, pair.reference, pair.tolerance, pair.reference_map,
                               pair.reference_map};
    const bool wrong =
        !verdict::wrong_ranks(errors_by_rank(itself, steps, verdict), result.limit).empty();
    report(*pair.reference, compared.reference_differs, context.reference.mesh, "reference", wrong);
  }
  if (compared.candidate_differs.empty()) return;
  if (result.ranks.empty()) {
    result = verdict::judge(
        *pair.reference, *pair.candidate, compared.metrics, result.limit,
        {result.sentinel, std::move(result.detail), errors_by_rank(pair, steps, verdict)});
  }
  const auto beyond = verdict::wrong_ranks(result.ranks, result.limit);
  report(*pair.candidate, compared.candidate_differs, context.candidate.mesh, "candidate",
         !beyond.empty());
  if (result.outcome() == Outcome::diverged || (!strict && beyond.empty())) return;
  result = verdict::as_replica_divergence(*pair.reference, *pair.candidate, std::move(result),
                                          compared.candidate_differs);
}

}  // namespace ttcheck::diff
