// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/unread.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/interrupted.hpp"

namespace ttcheck::verdict {

bool tells_unread_files(std::span<const Finding> findings) {
  return std::ranges::any_of(findings, [](const Finding& finding) {
    const bool of_files = finding.code == Code::missing_rank || finding.code == Code::unreadable ||
                          finding.code == Code::torn || finding.code == Code::omission;
    return of_files && finding.incomplete && finding.tensor.empty();
  });
}

void report_unread(const Tensor& reference, const Error& error, std::optional<std::int64_t> step,
                   Verdict& verdict) {
  ++verdict.coverage.unreadable;
  report_unread_step(error, step, verdict);
  Finding& finding = verdict.findings.back();
  finding.phase = reference.identity.phase;
  finding.op = std::string(module_of(reference.identity));
  finding.tensor = reference.identity.name;
}

void report_unread_step(const Error& error, std::optional<std::int64_t> step, Verdict& verdict) {
  Finding& finding = verdict.findings.emplace_back();
  finding.code = Code::unreadable;
  finding.step = step;
  finding.where = error.where();
  finding.message = error.message();
  finding.incomplete = true;
}

Finding interruption(const std::string& left) {
  Finding finding;
  finding.code = Code::unreadable;
  finding.severity = Severity::warning;  // it names the reason; the exit code is 128 + signal
  finding.message = fmt::format("interrupted by signal {}: {}", interrupted(), left);
  finding.incomplete = true;
  return finding;
}

}  // namespace ttcheck::verdict
