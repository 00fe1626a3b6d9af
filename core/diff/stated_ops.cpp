// SPDX-License-Identifier: Apache-2.0
#include "core/diff/stated_ops.hpp"

#include <fmt/format.h>

#include <set>
#include <string>

#include "core/recompute/stated.hpp"

namespace ttcheck::diff {

std::vector<Finding> stated_ops(const MetStep& met, std::span<const TensorResult> results) {
  Finding finding;
  std::set<std::string_view> ops;
  for (const TensorResult& result : results) {
    const auto& [reference, candidate, compared] = met.pairs[result.pair];
    const bool op = reference->trace && candidate->trace && reference->trace->call &&
                    reference->identity.phase == Phase::forward;
    if (!op) continue;
    const std::string words = recompute::stated_otherwise(*reference->trace, *candidate->trace);
    if (words.empty() || !ops.insert(module_of(result.identity)).second) continue;
    if (ops.size() > 1) continue;
    finding.code = Code::config;
    finding.severity = Severity::warning;
    finding.step = result.step;
    finding.phase = result.identity.phase;
    finding.op = module_of(result.identity);
    finding.message = fmt::format("{} has {}", finding.op, words);
  }
  if (ops.empty()) return {};
  if (ops.size() == 2) finding.message += "; another op has so, too";
  if (ops.size() > 2) finding.message += fmt::format("; so have {} more ops", ops.size() - 1);
  return {finding};
}

}  // namespace ttcheck::diff
