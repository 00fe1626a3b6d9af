#include "cli/steps.hpp"
#include "core/verdict/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ttcheck::cli {
namespace {

bool numbered(const Run& run) {
  return std::ranges::any_of(run.steps, &std::optional<std::int64_t>::has_value);
}

Finding step_finding(Code code, std::int64_t step, std::string_view side) {
  Finding finding;
  finding.code = code;
  finding.severity = Severity::warning;
  finding.step = step;
  finding.message = fmt::format("step {} is only in the {}", step, side);
  return finding;
}

Finding newest_note(std::int64_t step, std::string_view side) {
  return verdict::note(
      Code::missing, step,
      fmt::format("the other side has no step numbers: it meets the newest step {} of the {}", step,
                  side));
}

}  // namespace

std::vector<std::size_t> steps_in_range(const Run& run, const Options& options) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    if (!options.steps || options.steps->contains(run.steps[i])) indices.push_back(i);
  }
  return indices;
}

std::vector<StepPair> pair_steps(const Run& reference, const Run& candidate, const Options& options,
                                 Verdict& verdict) {
  // A side without numbers takes part whatever --step says: it is narrowed by the other side.
  const bool left_numbers = numbered(reference);
  const bool right_numbers = numbered(candidate);
  const std::vector<std::size_t> left =
      left_numbers ? steps_in_range(reference, options) : std::vector<std::size_t>{0};
  const std::vector<std::size_t> right =
      right_numbers ? steps_in_range(candidate, options) : std::vector<std::size_t>{0};
  if (left.empty() || right.empty() || reference.steps.empty() || candidate.steps.empty())
    return {};
  if (!left_numbers || !right_numbers) {
    const StepPair newest{
        left.back(), right.back(),
        left_numbers ? reference.steps[left.back()] : candidate.steps[right.back()]};
    if (newest.step && std::max(left.size(), right.size()) > 1) {
      verdict.findings.push_back(
          newest_note(*newest.step, left_numbers ? "reference" : "candidate"));
    }
    return {newest};
  }
  std::vector<StepPair> pairs;
  for (const std::size_t i : left) {
    const auto j = std::ranges::find_if(
        right, [&](std::size_t at) { return candidate.steps[at] == reference.steps[i]; });
    if (j != right.end()) {
      pairs.push_back({i, *j, reference.steps[i]});
    } else if (reference.steps[i]) {
      verdict.coverage.steps_only_reference.push_back(*reference.steps[i]);
      verdict.findings.push_back(step_finding(Code::missing, *reference.steps[i], "reference"));
    }
  }
  for (const std::size_t j : right) {
    const bool met =
        std::ranges::any_of(pairs, [&](const StepPair& pair) { return pair.candidate == j; });
    if (met || !candidate.steps[j]) continue;
    verdict.coverage.steps_only_candidate.push_back(*candidate.steps[j]);
    verdict.findings.push_back(step_finding(Code::unexpected, *candidate.steps[j], "candidate"));
  }
  return pairs;
}

}  // namespace ttcheck::cli
