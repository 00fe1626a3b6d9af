// SPDX-License-Identifier: Apache-2.0
#include "core/manifest/verify.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/interrupted.hpp"
#include "core/base/require.hpp"
#include "core/diff/context.hpp"
#include "core/diff/diff.hpp"
#include "core/diff/head.hpp"
#include "core/diff/meet.hpp"
#include "core/diff/named_states.hpp"
#include "core/diff/steps.hpp"
#include "core/manifest/as_run.hpp"
#include "core/manifest/hashed.hpp"
#include "core/model/name_rules.hpp"
#include "core/verdict/findings.hpp"
#include "core/verdict/holders.hpp"
#include "core/verdict/judge.hpp"
#include "core/verdict/tally.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::manifest {
namespace {

/// A finding about one pair, which has the manifest's name and the run's place.
Finding about(const Tensor& reference, const Tensor& candidate, std::optional<std::int64_t> step,
              Code code, std::string message) {
  Finding finding = verdict::note(code, step, std::move(message));
  finding.severity = Severity::error;
  finding.phase = reference.identity.phase;
  finding.tensor = reference.identity.name;
  finding.where = verdict::place_of(candidate, -1);
  return finding;
}

/// The pair's row: its hash is the same or not.
void add_row(const Tensor& reference, const Tensor& candidate, std::size_t place, bool same,
             const diff::MetStep& met, const diff::DiffOptions& how, Verdict& verdict) {
  TensorResult result = verdict::result_of(reference, candidate);
  result.trace = nullptr;
  result.step = met.step;
  result.pair = place;
  result.rule = kByHash;
  result.limit.source = "hash in the manifest";
  if (!same) {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    verdict::set_test(result, Test::hash, kInfinite, 0);
    result.by_limit = Outcome::diverged;
  }
  verdict::add_result(std::move(result), how.keep_equal, verdict);
}

void verify_pair(std::size_t place, const Hashed& hashed, const diff::MetStep& met,
                 const diff::DiffOptions& how, Verdict& verdict) {
  const Tensor& reference = *met.pairs[place].reference;
  const Tensor& candidate = *met.pairs[place].candidate;
  ++verdict.coverage.paired;
  verdict.coverage.bytes_compared += logical_bytes(candidate);
  if (reference.shape != candidate.shape || reference.dtype != candidate.dtype) {
    verdict.findings.push_back(
        about(reference, candidate, met.step, Code::shape_or_dtype,
              fmt::format("the manifest has {} {}, the run {} {}", name(reference.dtype),
                          verdict::to_string(reference.shape), name(candidate.dtype),
                          verdict::to_string(candidate.shape))));
    return;
  }
  require(reference.trace != nullptr, "a line of the manifest");
  const std::string& wanted = reference.trace->hash;
  if (wanted != hashed.entry.hash) {
    verdict.findings.push_back(
        about(reference, candidate, met.step, Code::checksum,
              fmt::format("the manifest has {}, the values give {}", wanted, hashed.entry.hash)));
  }
  add_row(reference, candidate, place, wanted == hashed.entry.hash, met, how, verdict);
}

void verify_step(const StepPair& steps, diff::DiffContext& context, Verdict& verdict) {
  const auto met = diff::meet_step(steps, context, verdict);
  context.memory.first_step = false;
  if (!met) return;
  append(verdict.findings, diff::named_note(met->sides->back().named, met->step));
  std::vector<std::size_t> places;
  std::vector<const Tensor*> tensors;
  for (const diff::UnreadPair& unread : met->unread) {  // a manifest has no bytes: all are
    if (met->is_evidence(unread.place)) continue;
    places.push_back(unread.place);
    tensors.push_back(met->pairs[unread.place].candidate);
  }
  const std::vector<Hashed> hashed = hash_all(tensors);
  report(tensors, hashed, met->step, context.candidate.mesh, context.how, verdict);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!hashed[i].error) verify_pair(places[i], hashed[i], *met, context.how, verdict);
  }
}

/// The steps that meet. Those that the run lost are no less than tensors that it lost.
std::vector<StepPair> pair_steps(const Run& expected, const Run& run,
                                 const std::optional<StepRange>& range, Verdict& verdict) {
  const std::size_t before = verdict.findings.size();
  std::vector<StepPair> pairs = diff::pair_steps(expected, run, range, verdict);
  for (Finding& finding : std::span(verdict.findings).subspan(before)) {
    const bool lost = finding.code == Code::missing && finding.severity == Severity::warning;
    if (lost && finding.step) finding.severity = Severity::error;
  }
  return pairs;
}

}  // namespace

Verdict verify(const Manifest& manifest, const std::string& path, const Run& run,
               const diff::DiffOptions& how) {
  const Run expected = as_run(manifest, path);
  Verdict verdict = diff::head_of(expected, run);
  verdict.findings = run.findings;
  append(verdict.findings, diff::named_note(run.named, {}));
  diff::require_steps(std::array{diff::NamedRun{expected, "manifest"}, diff::NamedRun{run, "run"}},
                      how.steps);
  diff::DiffContext context{expected, run, how};
  for (const StepPair& steps : pair_steps(expected, run, how.steps, verdict)) {
    verify_step(steps, context, verdict);
    if (interrupted() == 0) continue;
    verdict.findings.push_back(verdict::interruption("not everything was hashed"));
    context.told.cut_short = true;
    break;
  }
  append(verdict.findings, run.close());
  diff::conclude_runs(context, verdict);
  verdict.reference->format = "manifest";  // until here the writer's: names meet by it
  verdict.findings.push_back(verdict::note(
      Code::checksum, {},
      "the hashes are XXH3-64: they show what went wrong, not what was made to look right"));
  return verdict;
}

}  // namespace ttcheck::manifest
