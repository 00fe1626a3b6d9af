// SPDX-License-Identifier: Apache-2.0
#include "core/diff/comparable.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/locate/degenerate.hpp"
#include "core/locate/first.hpp"
#include "core/locate/preconditions.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::diff {
namespace {

/// The one finding of a comparison that cannot be made: a warning that names the reason.
void report_precondition(const locate::Precondition& failed, std::span<const TensorResult> results,
                         DiffContext& context, Verdict& verdict) {
  const TensorResult& shows = results[failed.record];
  context.told.precondition = failed.reason;
  verdict.first = locate::divergence_of(shows, std::nullopt, context.candidate.mesh);
  Finding finding = verdict::divergence_finding(shows, context.candidate.mesh);
  finding.code = failed.code;
  finding.severity = Severity::warning;
  finding.message =
      failed.reason + ": " + (failed.message.empty() ? finding.message : failed.message);
  finding.next = context.next_of(shows);
  verdict.findings.push_back(std::move(finding));
}

/// Whether something of the step did not meet, or met in another shape.
bool is_of_other_shape(const Verdict& verdict, std::optional<std::int64_t> step) {
  return std::ranges::any_of(verdict.findings, [&](const Finding& finding) {
    const bool unmet = finding.code == Code::shape_or_dtype || finding.code == Code::missing ||
                       finding.code == Code::unexpected;
    return unmet && finding.step == step && !finding.tensor.empty();
  });
}

/// Whether a weight that both began with is the same, or one that was trained since within its
/// limit: then they are one model, of which a part was lost or another one added.
bool shares_weights(std::span<const TensorResult> results, bool trained) {
  return std::ranges::any_of(results, [&](const TensorResult& one) {
    if (one.kind != Kind::weight || one.metrics.reference_constant) return false;
    const bool begun = one.identity.phase == Phase::state && one.outcome() == Outcome::equal;
    const bool left = one.identity.phase == Phase::optimizer || one.identity.phase == Phase::state;
    return begun || (trained && left && one.outcome() != Outcome::diverged);
  });
}

/// Whether nothing but its shape, or the order of ranks, says how the ranks of one side hold it.
bool is_placed_by_guess(const MetStep& met, const TensorResult& result) {
  const auto guessed = [](const Tensor& tensor) { return tensor.by_shape || tensor.by_rank; };
  const compare::Pair* const pair = met.compared(result);
  return pair != nullptr && (guessed(*pair->reference) || guessed(*pair->candidate));
}

/// Why the runs cannot be compared, if the first step of two traces shows it; it is then said.
bool stops_at_precondition(const MetStep& met, std::span<const TensorResult> results,
                           DiffContext& context, Verdict& verdict) {
  if (is_of_other_shape(verdict, met.step) && !shares_weights(results, met.steps.reference > 0)) {
    if (auto reason = locate::other_model(verdict.facts)) {  // TT309 has said it
      context.told.precondition = *std::move(reason);
      return true;
    }
  }
  auto failed = locate::failed_precondition(results, verdict.facts);
  const bool whole = !context.how.names.any();
  if (!failed && whole) failed = locate::degenerate_dump(results);
  if (failed && failed->code == Code::data_replay &&
      is_placed_by_guess(met, results[failed->record])) {
    failed->reason = "nothing states how ranks hold the batch";
    failed->code = Code::shape_or_dtype;
    failed->message =
        "put together in the order of the ranks it differs; a layout file can say "
        "how it lies";
  }
  if (failed) report_precondition(*failed, results, context, verdict);
  return failed.has_value();
}

}  // namespace

bool are_comparable(const MetStep& met, std::span<const TensorResult> results, DiffContext& context,
                    Verdict& verdict) {
  const bool first_step = std::exchange(context.memory.first_step, false);
  if (met.trace && first_step && stops_at_precondition(met, results, context, verdict))
    return false;
  return context.told.precondition.empty();  // what follows from it is no finding of its own
}

}  // namespace ttcheck::diff
