#include "cli/leftovers.hpp"

#include <fmt/format.h>

#include <unordered_set>

#include "core/align/neighbours.hpp"
#include "core/verdict/findings.hpp"
#include "core/verdict/tally.hpp"

namespace ttcheck::cli {
namespace {

constexpr std::size_t kNeighbours = 8;

/// Names that a reader found but could not describe.
std::unordered_set<std::string> unreadable_names(const Verdict& verdict) {
  std::unordered_set<std::string> names;
  for (const Finding& finding : verdict.findings) {
    if (finding.incomplete && !finding.tensor.empty()) names.insert(finding.tensor);
  }
  return names;
}

void add_exclusion(Coverage& coverage, const std::string& rule, std::int64_t count) {
  coverage.excluded += count;
  for (auto& [known, total] : coverage.excluded_by) {
    if (known != rule) continue;
    total += count;
    return;
  }
  coverage.excluded_by.emplace_back(rule, count);
}

Finding neighbour_finding(const Aligned& aligned) {
  const auto near =
      align::neighbours(aligned.reference, aligned.candidate, aligned.alignment, kNeighbours);
  Finding finding;
  finding.code = Code::name_mapping;
  finding.severity = Severity::note;
  if (near.empty()) return finding;
  const Tensor& left = aligned.reference[near.front().reference];
  const Tensor& right = aligned.candidate[near.front().candidate];
  finding.step = aligned.step;
  finding.tensor = left.identity.name;
  finding.candidate_tensor = right.identity.name;
  finding.message = fmt::format(
      "{} names of the reference and {} of the candidate do not meet; nearest of equal shape: {} "
      "and "
      "{}; a map to paste into --map FILE:\n{}",
      aligned.alignment.only_reference.size(), aligned.alignment.only_candidate.size(),
      left.identity.name, right.identity.name,
      align::map_to_paste(aligned.reference, aligned.candidate, near));
  return finding;
}

}  // namespace

void report_leftovers(const Aligned& aligned, Verdict& verdict) {
  for (const auto& [rule, count] : aligned.alignment.excluded_by) {
    add_exclusion(verdict.coverage, rule, count);
  }
  const auto unreadable = unreadable_names(verdict);
  const Severity severity = aligned.trace ? Severity::warning : Severity::error;
  const auto report = [&](std::span<const Tensor> tensors, std::span<const std::size_t> alone,
                          Code code, std::int64_t& count) {
    for (const std::size_t i : alone) {
      if (unreadable.contains(tensors[i].identity.name)) {
        ++verdict.coverage.unreadable;
        continue;
      }
      ++count;
      verdict.findings.push_back(
          verdict::leftover_finding(tensors[i], aligned.step, code, severity));
    }
  };
  report(aligned.reference, aligned.alignment.only_reference, Code::missing,
         verdict.coverage.only_reference);
  report(aligned.candidate, aligned.alignment.only_candidate, Code::unexpected,
         verdict.coverage.only_candidate);
  if (aligned.alignment.only_reference.empty() || aligned.alignment.only_candidate.empty()) return;
  Finding names = neighbour_finding(aligned);
  if (!names.message.empty()) verdict.findings.push_back(std::move(names));
}

void judge_unstored(const Tensor& reference, const Tensor& candidate,
                    std::optional<std::int64_t> step, Verdict& verdict) {
  const auto hash_of = [](const Tensor& tensor) -> std::string {
    const bool alone = tensor.pieces.size() <= 1 && tensor.terms.empty();
    return alone && tensor.trace ? tensor.trace->hash : "";
  };
  const std::string left = hash_of(reference);
  const std::string right = hash_of(candidate);
  if (left.empty() || right.empty()) {
    Error error("bytes were not stored, and there is no hash on both sides to compare");
    return report_unread(reference, error, step, verdict);
  }
  ++verdict.coverage.paired;
  TensorResult result;
  result.step = step;
  result.identity = reference.identity;
  result.kind = reference.kind;
  result.shape = reference.shape;
  result.dtype = reference.dtype;
  result.candidate_dtype = candidate.dtype;
  result.rule = "hash";
  result.limit.source = "stored hash";
  if (left != right) {
    result.outcome = Outcome::diverged;
    result.test = "exact";
  }
  verdict::add_result(std::move(result), true, verdict);
}

void report_unread(const Tensor& reference, const Error& error, std::optional<std::int64_t> step,
                   Verdict& verdict) {
  ++verdict.coverage.unreadable;
  Finding finding;
  finding.code = Code::unreadable;
  finding.step = step;
  finding.phase = reference.identity.phase;
  finding.op = std::string(module_of(reference.identity));
  finding.tensor = reference.identity.name;
  finding.where = error.where();
  finding.message = error.message();
  finding.incomplete = true;
  verdict.findings.push_back(std::move(finding));
}

}  // namespace ttcheck::cli
