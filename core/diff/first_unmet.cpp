// SPDX-License-Identifier: Apache-2.0
#include "core/diff/first_unmet.hpp"

#include <tuple>

#include "core/align/model_order.hpp"
#include "core/model/kind.hpp"

namespace ttcheck::diff {
namespace {

/// Smaller is earlier.
auto place_of(const Finding& finding) {
  Identity identity;
  identity.name = finding.tensor;
  identity.phase = finding.phase;
  return std::tuple(finding.step, finding.phase,
                    align::model_place(identity, kind_of_name(finding.tensor)));
}

}  // namespace

std::optional<Divergence> first_unmet(const Verdict& verdict) {
  const Finding* found = nullptr;
  for (const Finding& finding : verdict.findings) {
    if (finding.severity != Severity::error || finding.incomplete || finding.tensor.empty()) {
      continue;
    }
    if (found == nullptr || place_of(finding) < place_of(*found)) found = &finding;
  }
  if (found == nullptr) return std::nullopt;
  Divergence first;
  first.step = found->step;
  first.phase = found->phase;
  first.op = found->op;
  first.tensor = found->tensor;
  first.ranks = found->ranks;
  first.axes = found->axes;
  return first;
}

}  // namespace ttcheck::diff
