// SPDX-License-Identifier: Apache-2.0
#include "core/diff/not_compared.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ttcheck::diff {

void Uncompared::add(const Tensor& reference, std::string_view reason) {
  auto group = std::ranges::find(groups_, reason, &Group::reason);
  if (group == groups_.end()) {
    group = groups_.insert(group, {std::string(reason), reference.identity, 0});
  }
  ++group->count;
}

void Uncompared::report(std::optional<std::int64_t> step, Verdict& verdict) const {
  for (const Group& group : groups_) {
    verdict.coverage.unreadable += group.count;
    Finding& finding = verdict.findings.emplace_back();
    finding.code = Code::unreadable;
    finding.severity = Severity::warning;
    finding.incomplete = true;
    finding.step = step;
    finding.phase = group.first.phase;
    finding.op = std::string(module_of(group.first));
    finding.tensor = group.first.name;
    finding.message = "cannot be compared: " + group.reason;
    if (group.count > 1) finding.message += fmt::format(", as {} more", group.count - 1);
  }
}

}  // namespace ttcheck::diff
