#include "cli/stated_ops.hpp"

#include <fmt/format.h>

#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/recompute/stated.hpp"

namespace ttcheck::cli {

std::vector<Finding> stated_ops(const MetStep& met, std::span<const TensorResult> results) {
  const auto& references = met.sides->front().assembly.tensors;
  const auto& candidates = met.sides->back().assembly.tensors;
  std::unordered_map<Identity, std::string, IdentityHash> stated;
  for (const align::PairIndex& pair : met.alignment.pairs) {
    const Tensor& reference = references[pair.reference];
    const Tensor& candidate = candidates[pair.candidate];
    const bool op = reference.trace && candidate.trace && reference.trace->call &&
                    reference.identity.phase == Phase::forward;
    if (!op) continue;
    std::string words = recompute::stated_otherwise(*reference.trace, *candidate.trace);
    if (!words.empty()) stated.emplace(reference.identity, std::move(words));
  }
  if (stated.empty()) return {};
  Finding finding;
  std::set<std::string_view> ops;
  for (const TensorResult& result : results) {
    const auto found = stated.find(result.identity);
    if (found == stated.end() || !ops.insert(module_of(result.identity)).second) continue;
    if (ops.size() > 1) continue;
    finding.code = Code::config;
    finding.severity = Severity::warning;
    finding.step = result.step;
    finding.phase = result.identity.phase;
    finding.op = module_of(result.identity);
    finding.message = fmt::format("{} states {}", finding.op, found->second);
  }
  if (ops.empty()) return {};
  if (ops.size() > 1) finding.message += fmt::format("; so do {} more ops", ops.size() - 1);
  return {finding};
}

}  // namespace ttcheck::cli
